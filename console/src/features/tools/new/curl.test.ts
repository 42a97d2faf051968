import { describe, expect, it } from "vitest";
import { parseCurl, splitShellWords } from "./curl";
import { buildCurlTool } from "./curl_tool";

const readTool = (text: string) => {
  const command = parseCurl(text);
  return command && buildCurlTool(command);
};
const endpointsOf = (text: string) => Object.values(readTool(text)?.definition.config?.endpoints ?? {});

describe("the words of a command", () => {
  it.each([
    [`a 'b c' "d e"`, ["a", "b c", "d e"]],
    [`-H'X: 1'`, ["-HX: 1"]],
    ["a \\\n  b", ["a", "b"]],
    ["a \\\r\n  b", ["a", "b"]],
    [`"say \\"hi\\" \\n"`, ['say "hi" \\n']],
    [`'it'\\''s'`, ["it's"]],
    [`$'a\\nb\\'c'`, ["a\nb'c"]],
    ["''", [""]],
  ])("%s", (text, words) => expect(splitShellWords(text)).toEqual(words));
});

describe("a curl command", () => {
  it("has an address, a method, headers and a body", () => {
    const text = `curl -X PUT 'https://shop.example/orders/7' -H 'Accept: application/json' \\
      -H "Content-Type: application/json" --data-raw '{"state": "sent"}'`;
    expect(parseCurl(text)).toEqual({
      method: "PUT",
      url: "https://shop.example/orders/7",
      headers: [
        ["Accept", "application/json"],
        ["Content-Type", "application/json"],
      ],
      body: '{"state": "sent"}',
      form: [],
      ignored: [],
    });
  });

  it.each([
    ["curl https://a.example", "GET"],
    ["curl https://a.example -d x=1", "POST"],
    ["curl -F file=@a.txt https://a.example", "POST"],
    ["curl -XDELETE https://a.example", "DELETE"],
    ["curl --request=patch https://a.example", "PATCH"],
    ["curl -sSLXPOST https://a.example", "POST"],
    ["curl -G -d x=1 https://a.example", "GET"],
  ])("%s is a %s", (text, method) => expect(parseCurl(text)?.method).toBe(method));

  it("joins what it sends, and moves it to the address with -G", () => {
    expect(parseCurl("curl a.example -d x=1 --data-urlencode 'y=a b'")).toMatchObject({
      url: "http://a.example",
      body: "x=1&y=a%20b",
    });
    expect(parseCurl("curl -G https://a.example/s?q=1 -d x=2")?.url).toBe("https://a.example/s?q=1&x=2");
  });

  it("tells what it cannot take over, and skips what changes nothing", () => {
    expect(parseCurl("$ curl -o out.txt --max-time 5 -k --proxy http://p https://a.example")).toMatchObject({
      url: "https://a.example",
      ignored: ["--proxy"],
    });
  });

  it.each(["", "wget https://a.example", "curl", "curl -H 'A: b'"])("is not: %s", (text) =>
    expect(parseCurl(text)).toBeUndefined(),
  );
});

describe("the tool of a command", () => {
  it("takes what the command sends as its input", () => {
    const [endpoint] = endpointsOf(
      `curl https://shop.example/v1/orders?expand=items -H 'X-Team: sales' --json '{"sku": "a", "count": 2}'`,
    );
    expect(endpoint).toEqual({
      method: "POST",
      path: "/v1/orders",
      default_params: { expand: "items" },
      default_headers: { "X-Team": "sales" },
      input_schema: {
        type: "object",
        properties: { sku: { type: "string", examples: ["a"] }, count: { type: "integer", examples: [2] } },
      },
    });
  });

  it("sends forms as forms", () => {
    expect(endpointsOf("curl https://a.example -d 'a=1&b=2'")).toMatchObject([{ body_type: "form" }]);
    expect(endpointsOf("curl https://a.example -F a=1")).toMatchObject([{ body_type: "multipart" }]);
  });

  it("keeps no value that may be a secret, and reads odd addresses", () => {
    const text = "curl https://a.example/%zz -d 'client_secret=s3cret&grant=x'";
    expect(JSON.stringify(readTool(text))).not.toContain("s3cret");
    expect(endpointsOf(text)).toMatchObject([{ path: "/%zz" }]);
  });

  it("asks first if it writes", () => {
    expect(readTool("curl https://a.example")?.definition.requiresApproval).toBe(false);
    expect(readTool("curl -X DELETE https://a.example")?.definition.requiresApproval).toBe(true);
  });

  it.each([
    [`curl https://a.example -H 'Authorization: Bearer s3cret'`, "bearer", { token: "s3cret" }],
    ["curl -u ada:s3cret https://a.example", "basic", { username: "ada", password: "s3cret" }],
    ["curl https://ada:s3cret@a.example", "basic", { username: "ada", password: "s3cret" }],
    [
      `curl https://a.example -H 'Authorization: Basic YWRhOnMzY3JldA=='`,
      "basic",
      { username: "ada", password: "s3cret" },
    ],
    [`curl https://a.example -H 'X-Api-Key: s3cret'`, "api_key", { api_key: "s3cret" }],
    ["curl 'https://a.example/?api_key=s3cret'", "api_key", { api_key: "s3cret" }],
    [`curl https://a.example -b 'session=s3cret'`, "api_key", { api_key: "session=s3cret" }],
  ])("takes the secret out of %s", (text, authType, secrets) => {
    const tool = readTool(text);
    expect(tool?.secret).toMatchObject({ authType, secrets });
    expect(JSON.stringify(tool?.definition)).not.toContain("s3cret");
  });
});
