import type { Case } from '../property/cases.ts';
import { addressOf } from '../property/planned-request.ts';
import type { Target } from '../target/target.ts';

/** Longest body that a printed command holds in full. */
const LONGEST_BODY = 2_000;

/** A command line that sends the request again. Secrets are variables: `$TOKEN`, `$MONITOR_PASSWORD`. */
export function curlCommand(target: Target, { request, caller: { credential } }: Case): string {
  const headers = { ...target.headersOf(request, credential), ...credential.shown };
  const parts = [
    `curl -i -X ${request.route.method.toUpperCase()} ${quoted(target.url + addressOf(request))}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...bodyPart(request.body),
  ];
  return parts.join(' ');
}

/** In double quotes where a variable is to be filled in, else in single quotes. */
const quoted = (text: string): string =>
  text.includes('$') && !text.includes("'") && /: .*\$[(A-Z]/.test(text)
    ? `"${text}"`
    : `'${text.replaceAll("'", `'\\''`)}'`;

function bodyPart(body: string | Uint8Array | undefined): string[] {
  if (body === undefined) return [];
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('latin1');
  const shown = text.length > LONGEST_BODY ? `${text.slice(0, LONGEST_BODY)}… (${text.length} characters)` : text;
  // Control characters would not survive a terminal.
  const isPlain = /^[\t\n\x20-\x7e]*$/.test(shown);
  return [`--data-binary ${isPlain ? quoted(shown) : `$${quoted(escaped(shown))}`}`];
}

const escaped = (text: string): string =>
  [...text.replaceAll('\\', '\\\\')]
    .map((char) => (/[\x20-\x7e]/.test(char) ? char : `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`))
    .join('');
