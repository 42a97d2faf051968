import { expect, it } from "vitest";
import { readDomainLines } from "./domains";

it("takes domains from lines and commas, each once and in small letters", () =>
  expect(readDomainLines("Example.com, *.example.org\n@customer.example;example.com\n")).toEqual([
    "example.com",
    "*.example.org",
    "customer.example",
  ]));

it("finds none in blanks", () => expect(readDomainLines(" \n, ")).toEqual([]));
