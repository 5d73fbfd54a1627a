import type { Credential } from './credentials.ts';
import type { HttpRequest } from './target.ts';

/** Longest body that a printed command holds in full. */
const LONGEST_BODY = 2_000;

/** A command line that sends the request again. Secrets are variables: `$TOKEN`, `$MONITOR_PASSWORD`. */
export function curlCommand(
  url: string,
  { method, address, headers: sent, body, shownBody }: HttpRequest,
  { shown: shownOf }: Pick<Credential, 'shown'>,
): string {
  const headers = Object.entries(sent).map(([name, value]) => {
    const shown = shownOf[name];
    // Double quotes: the shell fills in the variable.
    return shown?.includes('$') ? `-H "${name}: ${shown}"` : `-H ${quoted(`${name}: ${value}`)}`;
  });
  return [
    `curl -i -X ${method} ${quoted(url + address)}`,
    ...headers,
    ...(shownBody === undefined ? bodyPart(body) : [`--data-binary "${shownBody}"`]),
  ].join(' ');
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function bodyPart(body: string | Uint8Array | undefined): string[] {
  if (body === undefined) return [];
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('latin1');
  const shown = text.length > LONGEST_BODY ? `${text.slice(0, LONGEST_BODY)}… (${text.length} characters)` : text;
  // Control characters would not survive a terminal.
  const isPlain = /^[\t\n\x20-\x7e]*$/.test(shown);
  return [`--data-binary ${isPlain ? quoted(shown) : `$${quoted(escaped(shown))}`}`];
}

/** Escapes a text for the shell's $'…', which takes the rest of the text literally after a quote. */
const escaped = (text: string): string =>
  [...text.replaceAll('\\', '\\\\')].map((char) => (/[\x20-\x26\x28-\x7e]/.test(char) ? char : codeOf(char))).join('');

function codeOf(char: string): string {
  const hex = (char.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
}
