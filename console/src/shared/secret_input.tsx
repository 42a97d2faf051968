import { PasswordInput, type PasswordInputProps } from "@mantine/core";

/** A field for a password or a key. Mantine shows its error, but does not mark the field as wrong. */
export const SecretInput = (props: PasswordInputProps) => (
  <PasswordInput {...props} aria-invalid={props.error ? true : undefined} />
);
