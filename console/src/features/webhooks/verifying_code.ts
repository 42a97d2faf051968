/** How a receiver checks the signature, in three languages; the header is ours, over the raw bytes of the body. */
export const VERIFYING_CODE = {
  Python: `import hashlib, hmac, time

def is_genuine(secret, headers, body):
    timestamp, given = headers["X-Service-Timestamp"], headers["X-Service-Signature"]
    signed = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    is_recent = abs(time.time() - int(timestamp)) <= 300
    return hmac.compare_digest(given.encode(), f"sha256={signed}".encode()) and is_recent`,
  JavaScript: `const { createHmac, timingSafeEqual } = require("node:crypto");

function isGenuine(secret, headers, body) {
  const timestamp = headers["x-service-timestamp"];
  const given = Buffer.from(headers["x-service-signature"]);
  const hash = createHmac("sha256", secret).update(timestamp + ".").update(body).digest("hex");
  const signed = Buffer.from("sha256=" + hash);
  const isRecent = Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300;
  return given.length === signed.length && timingSafeEqual(given, signed) && isRecent;
}`,
  Go: `func isGenuine(secret string, header http.Header, body []byte) bool {
	timestamp := header.Get("X-Service-Timestamp")
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	signed := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	sent, err := strconv.ParseInt(timestamp, 10, 64)
	isRecent := err == nil && math.Abs(float64(time.Now().Unix()-sent)) <= 300
	return hmac.Equal([]byte(header.Get("X-Service-Signature")), []byte(signed)) && isRecent
}`,
} as const;
export type VerifyingLanguage = keyof typeof VERIFYING_CODE;
