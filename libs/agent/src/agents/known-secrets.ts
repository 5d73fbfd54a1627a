import type { AgentPreset } from './presets.ts';

/** Shorter values occur in ordinary text. */
const MIN_SECRET_CHARS = 8;
/** Values such as `production` occur in ordinary text. */
const PLAIN_WORD = /^[a-zA-Z]+$/;
const REDACTED = '[redacted]';
const LINE_BREAKS = /[\r\n]+/g;

/** Returns the values of the keys of an agent, and of the variables that are passed to it. */
export function keysOf(
  { keys }: AgentPreset,
  env: Readonly<Record<string, string>>,
  passedEnv: readonly string[],
): string[] {
  const passed = passedEnv.map((name) => env[name] ?? '').filter((value) => !PLAIN_WORD.test(value));
  return [...keys.map((name) => env[name] ?? ''), ...passed];
}

/**
 * Secrets that a task works with: keys of its agent and credentials for git. Finds them in texts and files: plain, URL-encoded
 * and in base64, also inside of a longer text and divided by line breaks.
 */
export class KnownSecrets {
  readonly #forms = new Set<string>();

  constructor(values: readonly string[] = []) {
    for (const value of values) this.add(value);
  }

  add(value: string): void {
    if (value.length >= MIN_SECRET_CHARS) for (const form of formsOf(value)) this.#forms.add(form);
  }

  /** Returns a text, or a value with all its texts, with `[redacted]` in place of secrets. */
  redact<T>(value: T): T {
    if (typeof value === 'string') return this.#redactText(value) as T;
    const json = JSON.stringify(value, (_, part) => (typeof part === 'string' ? this.#redactText(part) : part));
    return json === undefined ? value : JSON.parse(json);
  }

  /** Returns whether bytes contain a secret. */
  async areIn(chunks: AsyncIterable<Buffer>): Promise<boolean> {
    const forms = [...this.#forms].map((form) => Buffer.from(form).toString('latin1'));
    const longest = Math.max(0, ...forms.map(({ length }) => length));
    let [last, lastFolded] = ['', ''];
    for await (const chunk of chunks) {
      const text = last + chunk.toString('latin1');
      const folded = lastFolded + chunk.toString('latin1').replace(LINE_BREAKS, '');
      if (forms.some((form) => text.includes(form) || folded.includes(form))) return true;
      [last, lastFolded] = [text.slice(-longest), folded.slice(-longest)];
    }
    return false;
  }

  /** A text in which line breaks divide a secret loses its line breaks. */
  #redactText(text: string): string {
    const forms = [...this.#forms];
    const left = forms.reduce((rest, form) => rest.replaceAll(form, REDACTED), text);
    const folded = left.replace(LINE_BREAKS, '');
    return forms.some((form) => folded.includes(form))
      ? forms.reduce((rest, form) => rest.replaceAll(form, REDACTED), folded)
      : left;
  }
}

function formsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  const escaped = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const encoded = encodeURIComponent(value);
  const inLowerCase = encoded.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  return [
    value,
    encoded,
    inLowerCase,
    escaped,
    escaped.toUpperCase(),
    ...[0, 1, 2].flatMap((at) => base64Of(bytes, at)),
  ];
}

/** Returns the characters of base64 that a value determines after this number of other bytes, in both alphabets. */
function base64Of(bytes: Buffer, before: number): string[] {
  const all = Buffer.concat([Buffer.alloc(before), bytes]);
  const text = all.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((all.length * 8) / 6));
  return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
}
