import { UsageError } from './errors.ts';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Returns the origin of `--host`. The host returns secrets, so plain HTTP is accepted on this machine only.
 * @throws UsageError
 */
export function hostOf(text: string): string {
  const url = urlOf('--host', text);
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    throw new UsageError(`--host must be a URL without a path, got "${text}"`);
  }
  if (url.protocol === 'http:' && !LOOPBACK.includes(url.hostname)) {
    throw new UsageError(`--host must be an https URL, got "${text}"`);
  }
  return url.origin;
}

/** @throws UsageError naming the option. */
export function urlOf(option: string, text: string): URL {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url;
  throw new UsageError(`${option} must be an http or https URL without credentials, got "${text}"`);
}

/** @throws UsageError naming the option. */
export function wholeNumber(option: string, text: string, [min, max]: readonly [number, number]): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : -1;
  if (value >= min && value <= max) return value;
  throw new UsageError(`${option} must be a whole number from ${min} to ${max}, got "${text}"`);
}
