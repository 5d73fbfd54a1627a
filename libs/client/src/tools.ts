import { createParser } from 'eventsource-parser';
import type { Transport } from './transport.ts';
import type { CallOptions } from './types.ts';

/** A tool of the MCP endpoint refused a call. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  /** Such as `REPO_NOT_FOUND`; null for an error of the protocol. */
  readonly code: string | null;

  constructor(text: string) {
    const [, code = null, message = text] = /^([A-Z][A-Z0-9_]{1,63}): ([\s\S]*)$/.exec(text) ?? [];
    super(message);
    this.code = code;
  }
}

interface Answer {
  result?: { isError?: boolean; structuredContent?: unknown; content?: { text?: string }[] };
  error?: { message?: string };
}

/**
 * Calls a tool of the MCP endpoint of the hosted API. @returns its structured content.
 * @throws ToolError when the tool refuses; PipelineError as every call.
 */
export async function callTool(
  transport: Transport,
  name: string,
  args: Record<string, unknown>,
  options: CallOptions = {},
): Promise<unknown> {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
  const headers = { ...options.headers, accept: 'application/json, text/event-stream' };
  const response = await transport.request('POST /api/mcp', { body }, { ...options, headers });
  const { result, error } = await answerOf(response);
  if (result?.structuredContent !== undefined && !result.isError) return result.structuredContent;
  throw new ToolError(error?.message ?? result?.content?.[0]?.text ?? 'the tool returned no result');
}

/** The one message of a response: the endpoint answers with JSON or with an event stream. */
async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return JSON.parse(text) as Answer;
  const messages: Answer[] = [];
  const parser = createParser({ onEvent: ({ data }) => messages.push(JSON.parse(data) as Answer) });
  parser.feed(`${text}\n\n`);
  return messages.at(-1) ?? {};
}
