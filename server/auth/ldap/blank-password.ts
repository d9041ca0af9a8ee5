/**
 * Whether a directory may take a password for none. A bind without a password succeeds as nobody (RFC 4513 §5.1.2);
 * some directories cut at NUL, or leave out spaces and what is never seen, before they look.
 */
export const isBlank = (password: string): boolean =>
  password.includes('\0') || /^[\s\p{Cc}\p{Default_Ignorable_Code_Point}]*$/u.test(password)
