import { createAddressReader, readOneOf, readPageNumber, readTextUpTo } from "../../shared/list/address";

export const CREDENTIAL_TYPES = [
  "api_key",
  "bearer_token",
  "basic_auth",
  "oauth2",
  "database",
  "smtp",
  "ssh",
  "custom",
] as const;
export type CredentialTypeName = (typeof CREDENTIAL_TYPES)[number];
export type CredentialFilters = { search?: string; type?: CredentialTypeName; page?: number };

/** Read the filters of the list from the address; what does not belong there is left out. */
export const readCredentialFilters = createAddressReader<CredentialFilters>({
  search: readTextUpTo(200),
  type: readOneOf(CREDENTIAL_TYPES),
  page: readPageNumber,
});
