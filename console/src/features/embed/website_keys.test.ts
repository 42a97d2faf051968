import { expect, it } from "vitest";
import type { EmbedKey } from "./queries";
import { listWebsiteKeys } from "./website_keys";

it("shows no website the key of the agent's own page", () => {
  const key = (id: string, allowed_domains: string[]) => ({ id, allowed_domains }) as unknown as EmbedKey;
  const [ofPage, ofShop] = [key("key_page", []), key("key_shop", [])];
  expect(listWebsiteKeys([ofPage, ofShop], "key_page")).toEqual([ofShop]);
  expect(listWebsiteKeys([ofPage], undefined)).toEqual([ofPage]);
  expect(listWebsiteKeys([key("key_page", ["shop.example"])], "key_page")).toHaveLength(1);
});
