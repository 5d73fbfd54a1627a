import { PipelineError, ToolError } from '@pipeline/client';
import { AppError, displayText } from '@pipeline/domain';
import { EnvError, StartError } from '@pipeline/runtime';
import type { Answer, CommandAction, Flags, Session } from './command/command.ts';
import { InputError, LoginError, ServiceError, UsageError } from './command/errors.ts';
import { EXIT } from './command/exit-codes.ts';
import { jsonText } from './command/json-text.ts';
import type { Streams } from './command/streams.ts';

/** A command to run. */
export interface Order<S = Session> {
  flags: Flags;
  action: CommandAction<S>;
  env: Readonly<Record<string, string | undefined>>;
  streams: Streams;
}

export interface Failure {
  code: string;
  message: string;
  exitCode: number;
}

/** Prints a result, or its error to standard error. @returns the exit code. */
export async function report(
  { flags, streams }: Pick<Order, 'flags' | 'streams'>,
  result: Promise<Answer>,
  failureIn: (error: unknown) => Failure | null = () => null,
): Promise<number> {
  try {
    const answer = await result;
    if (answer.isPrinted !== true) streams.stdout.write(`${flags.json ? jsonText(answer.data, 2) : answer.text}\n`);
    return answer.ok === false ? EXIT.refused : EXIT.ok;
  } catch (error) {
    const { code, message, exitCode } = failureOf(error) ?? failureIn(error) ?? internal(error);
    streams.stderr.write(flags.json ? `${jsonText({ error: { code, message } })}\n` : `error: ${message}\n`);
    return exitCode;
  }
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message || String(error) : String(error);

function failureOf(error: unknown): Failure | null {
  const message = messageOf(error);
  if (error instanceof PipelineError) return serviceFailure(error);
  if (error instanceof ToolError)
    return { code: error.code ?? 'INTERNAL_ERROR', message: shown(message), exitCode: EXIT.refused };
  if (error instanceof LoginError) return { code: 'NOT_LOGGED_IN', message, exitCode: EXIT.notLoggedIn };
  if (error instanceof ServiceError) return { code: 'SERVICE_UNAVAILABLE', message, exitCode: EXIT.unavailable };
  if (error instanceof AppError) {
    const exitCode = error.code === 'HOST_UNAVAILABLE' ? EXIT.unavailable : EXIT.refused;
    return { code: error.code, message, exitCode };
  }
  if (error instanceof UsageError) return { code: 'USAGE', message, exitCode: EXIT.usage };
  if (error instanceof InputError) return { code: 'INVALID_INPUT', message, exitCode: EXIT.refused };
  if (error instanceof EnvError || error instanceof StartError)
    return { code: 'CONFIG', message, exitCode: EXIT.config };
  return null;
}

const internal = (error: unknown): Failure => ({
  code: 'INTERNAL_ERROR',
  message: messageOf(error),
  exitCode: EXIT.internal,
});

/** The longest message of a service that is shown. */
const MESSAGE_LENGTH = 1_000;
const shown = (text: string): string => displayText(text, MESSAGE_LENGTH);

/** A refusal of the hosted API. */
function serviceFailure({ status, code, message, requestId }: PipelineError): Failure {
  const request = requestId === null ? '' : ` (request ${displayText(requestId, 100)})`;
  if (status === 401)
    return {
      code: 'NOT_LOGGED_IN',
      message: 'the service refused the credentials: log in again with pipeline login',
      exitCode: EXIT.notLoggedIn,
    };
  const isUnavailable = status === 429 || status >= 500;
  return {
    code: displayText(code ?? `HTTP_${status}`, 64),
    message: `${shown(message)}${request}`,
    exitCode: isUnavailable ? EXIT.unavailable : EXIT.refused,
  };
}
