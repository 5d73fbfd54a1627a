import {
  type ClientConnection,
  client,
  type InitializeResponse,
  type McpServer,
  methods,
  type NewSessionResponse,
  PROTOCOL_VERSION,
  type PromptResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk/unstable';
import { sleep, withDeadline } from '@pipeline/runtime';
import manifest from '../../package.json' with { type: 'json' };
import { AgentFailure } from '../agents/failures.ts';
import type { AgentProcess } from './agent-process.ts';
import type { WorkTreeFiles } from './files.ts';
import { judge, type PermissionPolicy, responseOf, ruleFor } from './permissions.ts';
import type { Terminals } from './terminals.ts';

/** Access of an agent to its work tree. */
export interface AgentAccess {
  root: string;
  policy: PermissionPolicy;
  files: WorkTreeFiles;
  terminals: Terminals;
  onUpdate(update: SessionUpdate): void;
  /** A request for permission was answered. */
  onPermission(title: string, answer: { allowed: boolean; reason: string }): void;
}

export interface SessionSettings {
  /** Session mode; null = the default of the agent. */
  mode: string | null;
  /** Model; null = the default of the agent. */
  model: string | null;
}

const MCP_SERVERS: McpServer[] = [];
const CAPABILITIES = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };

/**
 * One session with an agent over its process.
 * connected -(initialize)-> initialized -(session/new, mode, model)-> open -(prompt)-> open; ends with the process.
 */
export class AgentSession {
  /** Answer of the agent to `initialize`. */
  readonly initialized: InitializeResponse;
  readonly #account: Account;
  readonly #process: AgentProcess;
  #connection: ClientConnection;
  #session: NewSessionResponse | null = null;
  #model = '';

  private constructor(
    process: AgentProcess,
    connection: ClientConnection,
    { initialized, account }: { initialized: InitializeResponse; account: Account },
  ) {
    this.#account = account;
    this.#process = process;
    this.#connection = connection;
    this.initialized = initialized;
  }

  /** Connects to an agent. @throws RequestError, or Error with the end of the process. */
  static async connect(process: AgentProcess, access: AgentAccess): Promise<AgentSession> {
    const account = new Account();
    const connection = appOf(access, account).connect(process.messages);
    const params = {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: CAPABILITIES,
      clientInfo: { name: 'pipeline-agent', version: manifest.version },
    };
    const initialized = await unlessEnded<InitializeResponse>(
      process,
      connection.agent.request(methods.agent.initialize, params),
    );
    if (initialized.protocolVersion !== PROTOCOL_VERSION)
      throw new Error(`the agent uses version ${initialized.protocolVersion} of the protocol, not ${PROTOCOL_VERSION}`);
    return new AgentSession(process, connection, { initialized, account });
  }

  /**
   * Returns whether the agent reports that it has no credentials. An agent that announces such a report sends it at any
   * time after its start, so this waits for the first one.
   */
  async isUnauthenticated(withinMs: number): Promise<boolean> {
    const { authStatus } = this.initialized.agentCapabilities?._meta ?? {};
    if (authStatus !== undefined)
      await withDeadline(this.#account.reported, withinMs, 'the account of the agent').catch(() => undefined);
    return this.#account.isMissing;
  }

  /** Model of the session as far as the agent reports it. */
  get model(): string | null {
    return this.#model || null;
  }

  /** Opens the session in a folder. @throws RequestError; Error for a mode or model that the agent does not have. */
  async open(cwd: string, { mode, model }: SessionSettings): Promise<void> {
    const session = await this.#call(
      this.#connection.agent.request(methods.agent.session.new, { cwd, mcpServers: MCP_SERVERS }),
    );
    this.#session = session;
    const modes = session.modes?.availableModes.map(({ id }) => id) ?? [];
    if (mode !== null && session.modes?.currentModeId !== mode) {
      if (!modes.includes(mode))
        throw new Error(`the agent has no mode ${mode}; it has: ${modes.join(', ') || 'none'}`);
      const chosen = { sessionId: session.sessionId, modeId: mode };
      await this.#call(this.#connection.agent.request(methods.agent.session.setMode, chosen));
    }
    await this.#chooseModel(session, model);
  }

  async #chooseModel({ sessionId, configOptions }: NewSessionResponse, model: string | null): Promise<void> {
    const option = configOptions?.find(({ category, type }) => category === 'model' && type === 'select');
    if (option?.type === 'select') this.#model = option.currentValue;
    if (model === null || model === this.#model) return;
    if (!option) throw new Error(`the agent does not offer a choice of models; set the model ${model} in its settings`);
    const params = { sessionId, configId: option.id, value: model };
    await this.#call(this.#connection.agent.request(methods.agent.session.setConfigOption, params));
    this.#model = model;
  }

  /**
   * Sends a prompt and waits for the end of the turn. @param meta extension data for agents that know it.
   * @throws RequestError of the agent, or Error with the end of its process.
   */
  async prompt(text: string, meta?: Record<string, unknown>): Promise<PromptResponse> {
    const sessionId = this.#session?.sessionId ?? '';
    const params = { sessionId, prompt: [{ type: 'text' as const, text }], ...(meta && { _meta: meta }) };
    const response = await this.#call<PromptResponse>(
      this.#connection.agent.request(methods.agent.session.prompt, params),
    );
    // The library resolves the response before the handlers of the updates that were received before it have run.
    await sleep(0);
    return response;
  }

  /** Asks the agent to end its turn. */
  async cancel(): Promise<void> {
    if (this.#session === null || this.#process.end !== null) return;
    const { sessionId } = this.#session;
    await this.#connection.agent.notify(methods.agent.session.cancel, { sessionId }).catch(() => undefined);
  }

  close(): void {
    this.#connection.close();
  }

  #call<T>(request: Promise<T>): Promise<T> {
    return unlessEnded(this.#process, request);
  }
}

/** Reports of the agent about its credentials. */
class Account {
  isMissing = false;
  readonly #first = Promise.withResolvers<void>();

  /** Settles with the first report. */
  get reported(): Promise<void> {
    return this.#first.promise;
  }

  report(params: unknown): void {
    const { authStatus } = (params ?? {}) as { authStatus?: { kind?: unknown } };
    this.isMissing = authStatus?.kind === 'none';
    this.#first.resolve();
  }
}

function appOf(access: AgentAccess, account: Account) {
  const { root, policy, files, terminals } = access;
  return client({ name: 'pipeline-agent' })
    .onNotification(methods.client.session.update, ({ params }) => access.onUpdate(params.update))
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      const answer = judge(policy, root, params);
      access.onPermission(params.toolCall.title ?? params.toolCall.toolCallId, answer);
      return responseOf(answer, ruleFor(policy, params.toolCall.kind), params.options);
    })
    .onRequest(methods.client.fs.readTextFile, async ({ params }) => ({
      content: await files.read(params.path, params),
    }))
    .onRequest(methods.client.fs.writeTextFile, async ({ params }) => {
      if (policy.edit === 'refuse') throw refusedByPolicy('edit');
      await files.write(params.path, params.content);
      return {};
    })
    .onRequest(methods.client.terminal.create, ({ params }) => {
      if (policy.execute === 'refuse') throw refusedByPolicy('execute');
      return { terminalId: terminals.create(params) };
    })
    .onRequest(methods.client.terminal.output, ({ params }) => terminals.output(params.terminalId))
    .onRequest(methods.client.terminal.waitForExit, ({ params }) => terminals.wait(params.terminalId))
    .onRequest(methods.client.terminal.kill, ({ params }) => {
      terminals.kill(params.terminalId);
      return {};
    })
    .onRequest(methods.client.terminal.release, ({ params }) => {
      terminals.release(params.terminalId);
      return {};
    })
    .onNotification('*', ({ method, params }) => {
      if (/^_?auth\/status_update$/.test(method)) account.report(params);
    });
}

const refusedByPolicy = (kind: string): Error => new Error(`the policy of this worker refuses: ${kind}`);

/** A request of an ended process gets no response. */
async function unlessEnded<T>(process: AgentProcess, request: Promise<T>): Promise<T> {
  const ended = process.ended.then(async () => {
    // A response that was written before the end wins.
    await sleep(0);
    throw new AgentFailure('transient', process.end ?? 'the agent ended');
  });
  ended.catch(() => undefined);
  try {
    return await Promise.race([request, ended]);
  } catch (error) {
    // The connection closes before the exit of the process is known.
    if (isClosed(error)) await Promise.race([process.ended, sleep(100)]);
    throw process.end !== null && isClosed(error) ? new AgentFailure('transient', process.end) : error;
  }
}

const isClosed = (error: unknown): boolean => error instanceof Error && /closed|disposed/i.test(error.message);
