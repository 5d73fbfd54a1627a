/** The scripted agent on stdin and stdout: `node main.ts SCRIPT`, a JSON file or a module. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { ndJsonStream } from '@agentclientprotocol/sdk/unstable';
import { type Script, scriptedAgent } from './agent-app.ts';
import { Script as ScriptFile, stepsOf, type Turn } from './steps.ts';

const [, , path = ''] = process.argv;

async function load(): Promise<Script> {
  if (!path.endsWith('.json'))
    return ((await import(pathToFileURL(resolve(path)).href)) as { default: Script }).default;
  const script = ScriptFile.parse(JSON.parse(await readFile(path, 'utf8')));
  return (turn: Turn) => stepsOf(script, turn);
}

const output = Writable.toWeb(process.stdout) as WritableStream<Uint8Array>;
const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
const connection = scriptedAgent(await load()).connect(ndJsonStream(output, input));
await connection.closed;
