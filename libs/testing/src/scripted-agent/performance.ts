import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import {
  type AgentContext,
  methods,
  RequestError,
  type RequestPermissionResponse,
  type SessionUpdate,
  type StopReason,
} from '@agentclientprotocol/sdk/unstable';
import { sleep } from '@pipeline/runtime';
import type { Step } from './steps.ts';

export interface PerformanceOptions {
  client: AgentContext;
  sessionId: string;
  cwd: string;
  /** Sums of the session, which steps add to. */
  usage: { inputTokens: number; outputTokens: number; costUsd: number };
}

type Of<K extends string> = Extract<Step, Record<K, unknown>>;

/** Performs the steps of one turn. */
export class Performance {
  readonly #options: PerformanceOptions;
  readonly #cancelled = new AbortController();
  #calls = 0;

  constructor(options: PerformanceOptions) {
    this.#options = options;
  }

  cancel(): void {
    this.#cancelled.abort();
  }

  async perform(steps: AsyncIterable<Step> | Iterable<Step>): Promise<StopReason> {
    for await (const step of steps) {
      if (this.#cancelled.signal.aborted) return 'cancelled';
      if ('stop' in step) return step.stop;
      await this.#step(step);
    }
    return this.#cancelled.signal.aborted ? 'cancelled' : 'end_turn';
  }

  async #step(step: Step): Promise<void> {
    if ('say' in step) await this.#say(step.say);
    else if ('think' in step) await this.#update({ sessionUpdate: 'agent_thought_chunk', content: text(step.think) });
    else if ('verdict' in step) await this.#say(`\`\`\`json\n${JSON.stringify(step.verdict)}\n\`\`\`\n`);
    else if ('plan' in step) await this.#plan(step);
    else if ('tool' in step) await this.#tool(step);
    else if ('usage' in step) await this.#usage(step);
    else if ('pauseMs' in step) await sleep(step.pauseMs, this.#cancelled.signal);
    else await this.#file(step);
  }

  async #file(step: Step): Promise<void> {
    const { client, sessionId, cwd } = this.#options;
    if ('write' in step) {
      const { path, text: content } = step.write;
      await client.request(methods.client.fs.writeTextFile, { sessionId, path: resolve(cwd, path), content });
    } else if ('edit' in step) await edit(resolve(cwd, step.edit.path), step.edit.text);
    else if ('read' in step) {
      const path = resolve(cwd, step.read.path);
      await this.#attempt(
        async () => (await client.request(methods.client.fs.readTextFile, { sessionId, path })).content,
      );
    } else if ('run' in step) await this.#attempt(() => this.#run(step));
    else await this.#misbehave(step);
  }

  async #misbehave(step: Step): Promise<void> {
    if ('hang' in step) await sleep(2 ** 30);
    else if ('ignoreSigterm' in step) process.on('SIGTERM', () => undefined);
    else if ('exit' in step) process.kill(process.pid, step.exit === 0 ? 'SIGTERM' : 'SIGKILL');
    else if ('flood' in step) for (let sent = 0; sent < step.flood.messages; sent += 1) await this.#flood(step);
    else if ('raw' in step) process.stdout.write(step.raw);
    else if ('stderr' in step) process.stderr.write(`${step.stderr}\n`);
    else if ('fail' in step) throw new RequestError(step.fail.code, step.fail.message, step.fail.data);
  }

  #say(content: string): Promise<void> {
    return this.#update({ sessionUpdate: 'agent_message_chunk', content: text(content) });
  }

  /** Alternates kinds, so that the client cannot join the messages. */
  async #flood({ flood }: Of<'flood'>): Promise<void> {
    await this.#update({ sessionUpdate: 'agent_thought_chunk', content: text('x') });
    await this.#say('y'.repeat(flood.chars));
  }

  async #plan({ plan }: Of<'plan'>): Promise<void> {
    const entries = plan.map((entry) => ({ ...entry, priority: 'medium' as const }));
    await this.#update({ sessionUpdate: 'plan', entries });
  }

  async #tool({ tool }: Of<'tool'>): Promise<void> {
    const { client, sessionId } = this.#options;
    this.#calls += 1;
    const toolCallId = `call-${this.#calls}`;
    const { title, kind, input, output, ask } = tool;
    const locations = tool.paths.map((path) => ({ path }));
    const call = { toolCallId, title, kind, locations, rawInput: input };
    await this.#update({ sessionUpdate: 'tool_call', ...call, status: 'pending' });
    const options = [
      { optionId: 'yes', name: 'Allow', kind: 'allow_once' as const },
      { optionId: 'no', name: 'Reject', kind: 'reject_once' as const },
    ];
    const asked: RequestPermissionResponse | null = ask
      ? await client.request(methods.client.session.requestPermission, { sessionId, toolCall: call, options })
      : null;
    const allowed = asked === null || (asked.outcome.outcome === 'selected' && asked.outcome.optionId === 'yes');
    const status = allowed ? 'completed' : 'failed';
    await this.#update({
      sessionUpdate: 'tool_call_update',
      toolCallId,
      status,
      rawOutput: allowed ? output : 'refused',
    });
  }

  async #usage({ usage }: Of<'usage'>): Promise<void> {
    const sums = this.#options.usage;
    sums.inputTokens += usage.inputTokens;
    sums.outputTokens += usage.outputTokens;
    if (usage.costUsd === undefined) return;
    sums.costUsd += usage.costUsd;
    const cost = { amount: sums.costUsd, currency: 'USD' };
    await this.#update({ sessionUpdate: 'usage_update', used: sums.inputTokens, size: 200_000, cost });
  }

  async #run({ run }: Of<'run'>): Promise<string> {
    const { client, sessionId } = this.#options;
    const { command, cwd, env = {} } = run;
    const variables = Object.entries(env).map(([name, value]) => ({ name, value }));
    const place = { ...(cwd !== undefined && { cwd }), env: variables };
    const terminal = await client.createTerminal({ sessionId, command, ...place });
    try {
      const { exitCode } = await terminal.waitForExit();
      return `exit ${exitCode}\n${(await terminal.currentOutput()).output}`;
    } finally {
      await terminal.release();
    }
  }

  /** Prints the result, or that the client refused. */
  async #attempt(work: () => Promise<string>): Promise<void> {
    await this.#say(await work().catch((error: Error) => `refused: ${error.message}`));
  }

  async #update(update: SessionUpdate): Promise<void> {
    const { client, sessionId } = this.#options;
    await client.notify(methods.client.session.update, { sessionId, update });
  }
}

const text = (content: string) => ({ type: 'text' as const, text: content });

async function edit(path: string, content: string | null): Promise<void> {
  if (content === null) return rm(path, { force: true });
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}
