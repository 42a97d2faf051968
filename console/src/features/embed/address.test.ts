import { describe, expect, it } from "vitest";
import { classifyReach, serviceAddressOf } from "./address";

describe("the address of the service", () => {
  it.each([
    ["http://127.0.0.1:8080", "loopback"],
    ["http://localhost", "loopback"],
    ["https://[::1]:8443/chat", "loopback"],
    ["http://shop.localhost:3000", "loopback"],
    ["http://retinue.example.com", "insecure"],
    ["http://192.168.0.7:8080", "insecure"],
    ["https://retinue.example.com/chat", "public"],
    ["https://127.example.com", "public"],
  ])("%s is %s", (address, reach) => {
    expect(classifyReach(address)).toBe(reach);
  });

  it("stands before the script", () => {
    expect(serviceAddressOf("https://example.com/chat/embed/widget.js")).toBe("https://example.com/chat");
  });
});
