import type { ContentBlock, SessionUpdate, ToolCall, ToolCallUpdate } from '@agentclientprotocol/sdk/unstable';
import type { RunRecord } from '@pipeline/worker';

type Message = Extract<RunRecord, { type: 'message' }>;

/** Maximum messages and characters of one run that are stored. */
const MAX_MESSAGES = 5_000;
const MAX_CHARS = 8_000_000;
const MAX_TEXT_CHARS = 32_000;
const MAX_TOOL_CHARS = 20_000;
const MAX_TOOL_NAME = 200;
const MAX_STATUS = 500;
/** The last messages of an agent contain its verdict. */
const MAX_ANSWER_CHARS = 1_000_000;

export interface TranscriptOptions {
  record(record: RunRecord): void;
  /** Removes secrets from a text, or from all texts in a value. */
  redact<T>(value: T): T;
}

type Plan = Extract<SessionUpdate, { sessionUpdate: 'plan' }>;

/**
 * Converts the updates of a session to records: chunks are joined to messages, tool calls and their results, plans as
 * progress. Above the limits, updates are dropped.
 */
export class Transcript {
  readonly #options: TranscriptOptions;
  readonly #toolNames = new Map<string, string>();
  #open: { subtype: 'text' | 'thinking'; text: string } | null = null;
  #answer = '';
  #count = 0;
  #chars = 0;

  constructor(options: TranscriptOptions) {
    this.#options = options;
  }

  /** Returns the text that the agent wrote since the last call. */
  takeAnswer(): string {
    const answer = this.#answer;
    this.#answer = '';
    return answer;
  }

  update(update: SessionUpdate): void {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
        this.#chunk('text', textOf(update.content));
        break;
      case 'agent_thought_chunk':
        this.#chunk('thinking', textOf(update.content));
        break;
      case 'tool_call':
        this.#toolCall(update);
        break;
      case 'tool_call_update':
        this.#toolUpdate(update);
        break;
      case 'plan':
        this.#plan(update);
        break;
      default:
    }
  }

  /** Records text of the pipeline itself: a prompt, a decision. */
  note(role: 'user' | 'system', text: string): void {
    this.flush();
    this.#message({ role, subtype: role === 'user' ? 'text' : 'system', content: text.slice(0, MAX_TEXT_CHARS) });
  }

  /** Records the message whose chunks were received last. */
  flush(): void {
    if (this.#open === null) return;
    const { subtype, text } = this.#open;
    this.#open = null;
    this.#message({ role: 'assistant', subtype, content: text });
  }

  #chunk(subtype: 'text' | 'thinking', text: string): void {
    if (subtype === 'text') this.#answer = (this.#answer + text).slice(-MAX_ANSWER_CHARS);
    if (this.#open !== null && this.#open.subtype !== subtype) this.flush();
    this.#open = { subtype, text: (this.#open?.text ?? '') + text };
    if (this.#open.text.length > MAX_TEXT_CHARS) this.flush();
  }

  #toolCall(call: ToolCall): void {
    this.flush();
    const name = (call.name ?? call.title ?? call.kind ?? 'tool').slice(0, MAX_TOOL_NAME);
    this.#toolNames.set(call.toolCallId, name);
    this.#message({
      role: 'assistant',
      subtype: 'tool_use',
      toolName: name,
      toolInput: this.#bounded(call.rawInput ?? { locations: call.locations }),
      content: call.title,
    });
    if (call.status === 'completed' || call.status === 'failed') this.#toolUpdate(call);
  }

  #toolUpdate({ toolCallId, status, content, rawOutput }: ToolCallUpdate): void {
    if (status !== 'completed' && status !== 'failed') return;
    this.flush();
    const toolName = this.#toolNames.get(toolCallId) ?? null;
    this.#toolNames.delete(toolCallId);
    const text = (content ?? []).map(toolText).filter(Boolean).join('\n').slice(0, MAX_TOOL_CHARS);
    const output = rawOutput === undefined ? {} : { toolOutput: this.#bounded(rawOutput) };
    this.#message({ role: 'user', subtype: 'tool_result', toolName, content: `${status}\n${text}`.trim(), ...output });
  }

  #plan({ entries }: Plan): void {
    this.flush();
    const done = entries.filter(({ status }) => status === 'completed').length;
    const current = entries.find(({ status }) => status === 'in_progress') ?? entries.find(isPending);
    const status = `Plan: ${done} of ${entries.length} done${current ? `; ${current.content}` : ''}`;
    const listed = entries.slice(0, 100).map(({ content, status: state }) => ({ content: this.#text(content), state }));
    this.#options.record({
      type: 'progress',
      status: this.#text(status).slice(0, MAX_STATUS),
      details: { plan: listed },
    });
    const lines = entries.map(({ content, status: state }) => `- [${state === 'completed' ? 'x' : ' '}] ${content}`);
    this.#message({ role: 'assistant', subtype: 'text', content: lines.join('\n').slice(0, MAX_TEXT_CHARS) });
  }

  #text(text: string): string {
    return this.#options.redact(text);
  }

  #bounded(value: unknown): unknown {
    const json = JSON.stringify(this.#options.redact(value)) ?? 'null';
    return json.length <= MAX_TOOL_CHARS ? JSON.parse(json) : `${json.slice(0, MAX_TOOL_CHARS)}…`;
  }

  #message(message: Pick<Message, 'role' | 'subtype'> & Partial<Message>): void {
    this.#count += 1;
    this.#chars += (message.content?.length ?? 0) + (JSON.stringify(message.toolInput)?.length ?? 0);
    if (this.#count > MAX_MESSAGES + 1) return;
    const isFull = this.#count > MAX_MESSAGES || this.#chars > MAX_CHARS;
    const fields = { toolName: null, toolInput: undefined, toolOutput: undefined, invocationIndex: 0 };
    if (!isFull) {
      const content = message.content == null ? null : this.#text(message.content);
      this.#options.record({ type: 'message', ...fields, ...message, content });
      return;
    }
    this.#count = MAX_MESSAGES + 1;
    const content = '(further output of this run is not kept)';
    this.#options.record({ type: 'message', ...fields, role: 'system', subtype: 'system', content });
  }
}

const isPending = ({ status }: { status: string }): boolean => status === 'pending';

const textOf = (content: ContentBlock): string => (content.type === 'text' ? content.text : `[${content.type}]`);

function toolText(part: NonNullable<ToolCallUpdate['content']>[number]): string {
  if (part.type === 'content') return textOf(part.content);
  return part.type === 'diff' ? `changed ${part.path}` : '';
}
