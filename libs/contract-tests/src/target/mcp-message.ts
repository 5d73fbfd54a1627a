import { McpResponse } from '@pipeline/contract';

const INTERNAL_ERROR = -32_603;

/** Describes the problem of the answer to a tool call; null when there is none. */
export function toolCallProblem(body: string, isValid: boolean): string | null {
  const parsed = McpResponse.safeParse(messageIn(body));
  if (!parsed.success) return `no JSON-RPC response: ${body.slice(0, 200)}`;
  const { result, error } = parsed.data;
  if (error && (isValid || error.code === INTERNAL_ERROR)) return `error ${error.code}: ${error.message}`;
  if (!isValid && result && result.isError !== true) return 'accepts arguments that its schema refuses';
  return null;
}

/** The message of an answer, sent as JSON or as the data of an event. */
export function messageIn(body: string): unknown {
  const data = /^data: (.*)$/m.exec(body)?.[1] ?? body;
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}
