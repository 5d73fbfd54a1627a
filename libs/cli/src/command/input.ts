import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { type Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { InputError } from './errors.ts';
import type { Streams } from './streams.ts';

/** @throws InputError naming the file. */
export async function readText(file: string, stdin: Readable): Promise<string> {
  if (file === '-') return text(stdin);
  return readFile(file, 'utf8').catch((cause: Error) => {
    throw new InputError(`${file} cannot be read: ${cause.message}`, { cause });
  });
}

/**
 * Reads a password, never from the command line, where other users of the machine could read it: prompts twice without
 * echo on a terminal; otherwise reads the first line of standard input.
 * @throws InputError when it is empty or the two entries differ.
 */
export async function readPassword(streams: Omit<Streams, 'stdout'>): Promise<string> {
  if (!streams.stdin.isTTY) {
    const [line = ''] = (await text(streams.stdin)).split(/\r?\n/);
    if (line !== '') return line;
    throw new InputError('no password on standard input');
  }
  const password = await ask('Password: ', streams);
  if (password === '') throw new InputError('no password was given');
  if (password !== (await ask('Again: ', streams))) throw new InputError('the two passwords differ');
  return password;
}

/** Prompts for one line. @throws InputError when standard input ends first. */
export async function readLine(question: string, { stdin, stderr }: Omit<Streams, 'stdout'>): Promise<string> {
  const lines = createInterface({ input: stdin });
  stderr.write(question);
  try {
    for await (const line of lines) return line;
  } finally {
    lines.close();
  }
  throw new InputError('standard input has ended');
}

async function ask(question: string, { stdin, stderr }: Omit<Streams, 'stdout'>): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: silent, terminal: true });
  const given = new AbortController();
  lines.on('SIGINT', () => given.abort());
  lines.on('close', () => given.abort());
  stderr.write(question);
  try {
    return await lines.question('', { signal: given.signal });
  } catch (cause) {
    throw new InputError('no password was given', { cause });
  } finally {
    lines.close();
    stderr.write('\n');
  }
}
