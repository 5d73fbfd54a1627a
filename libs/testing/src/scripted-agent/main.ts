/** The scripted agent on stdin and stdout: `node main.ts SCRIPT`, a JSON file or a module. */

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import {
  agent,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type PromptResponse,
  RequestError,
} from '@agentclientprotocol/sdk/unstable';
import { Performance } from './performance.ts';
import { Script as ScriptFile, type Step, stepsOf, type Turn } from './steps.ts';

interface Session {
  cwd: string;
  turns: number;
  performance: Performance | null;
  usage: { inputTokens: number; outputTokens: number; costUsd: number };
}

/** Returns the steps of a turn; a generator may decide while it runs. */
type Script = (turn: Turn) => AsyncIterable<Step> | Iterable<Step>;

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

/** An agent of the Agent Client Protocol that performs a script instead of calling a model. */
function scriptedAgent(script: Script) {
  const sessions = new Map<string, Session>();
  const sessionOf = (id: string): Session => {
    const found = sessions.get(id);
    if (!found) throw RequestError.resourceNotFound(id);
    return found;
  };
  return agent({ name: 'scripted-agent' })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentCapabilities: {},
      agentInfo: { name: 'scripted-agent', version: '0.1.0' },
      authMethods: [],
    }))
    .onRequest(methods.agent.session.new, ({ params }) => {
      const sessionId = randomUUID();
      const usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
      sessions.set(sessionId, { cwd: params.cwd, turns: 0, performance: null, usage });
      return { sessionId };
    })
    .onRequest(methods.agent.session.prompt, async ({ params, client }): Promise<PromptResponse> => {
      const session = sessionOf(params.sessionId);
      const performance = new Performance({
        client,
        sessionId: params.sessionId,
        cwd: session.cwd,
        usage: session.usage,
      });
      session.performance = performance;
      const prompt = params.prompt.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
      const { 'pipeline/task': task = null, 'pipeline/conflicts': conflicts = [] } = params._meta ?? {};
      const turn: Turn = { number: session.turns, cwd: session.cwd, prompt, task, conflicts: conflicts as string[] };
      session.turns += 1;
      const stopReason = await performance.perform(script(turn));
      const { inputTokens, outputTokens } = session.usage;
      if (inputTokens + outputTokens === 0) return { stopReason };
      return { stopReason, usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens } };
    })
    .onNotification(methods.agent.session.cancel, ({ params }) =>
      sessions.get(params.sessionId)?.performance?.cancel(),
    );
}
