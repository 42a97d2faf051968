import { afterEach, expect, it, vi } from "vitest";
import { expiryDayOf, expiryOfDay } from "./expiry_day";

afterEach(() => vi.unstubAllEnvs());

it.each(["Europe/Berlin", "America/Los_Angeles", "Pacific/Auckland", "UTC"])(
  "shows in %s the day that was saved",
  (zone) => {
    vi.stubEnv("TZ", zone);
    for (const day of ["2026-11-20", "2027-01-01"]) expect(expiryDayOf(expiryOfDay(day))).toBe(day);
  },
);

it("shows no day without an expiry", () => expect(expiryDayOf(null)).toBe(""));
