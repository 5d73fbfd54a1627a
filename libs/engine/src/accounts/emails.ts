import { refuse } from '../context/admin.ts';

const EMAIL = /^[^\s@]+@[^\s@]+$/;
const MAX_EMAIL = 254;

/** @throws AppError INVALID_INPUT for a text that is no address. */
export function requireEmail(email: string): void {
  if (!EMAIL.test(email) || email.length > MAX_EMAIL) refuse(`"${email}" is not an email address`);
}
