import type { Settings } from '@pipeline/domain';
import { deadlineSignal, type Logger } from '@pipeline/runtime';
import { digestContext, digestLine } from './digest-text.ts';
import { type Message, slackBody, webhookHeaders } from './message.ts';

export type Channel = Settings['alertChannels'][number];

export interface ChannelDeps {
  /** Variables that channels name. */
  variables: Readonly<Record<string, string | undefined>>;
  log: Logger;
  now: () => Date;
  /** Default 10 s. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;
const LOG_LEVELS = { info: 'info', warning: 'warn', critical: 'error' } as const;

/**
 * Sends a message once. Only configured addresses are asked, and no redirect is followed: an address inside must not be
 * reached by way of one outside. What is answered is not read.
 * @returns why it was not taken; null when it was. The text holds no secret.
 */
export async function sendTo(channel: Channel, message: Message, deps: ChannelDeps): Promise<string | null> {
  if (channel.type === 'log') return logged(message, deps.log);
  const variable = channel.type === 'webhook' ? channel.secretEnv : channel.urlEnv;
  const secret = deps.variables[variable] ?? '';
  if (secret === '') return `the variable ${variable} is not set`;
  if (channel.type === 'webhook') {
    const body = JSON.stringify(message);
    const timestamp = Math.floor(deps.now().getTime() / 1_000);
    return post(channel.url, { headers: webhookHeaders(message, body, { secret, timestamp }), body }, deps);
  }
  if (!/^https?:\/\/./.test(secret) || !URL.canParse(secret)) return `the variable ${variable} holds no http address`;
  const body = JSON.stringify(slackBody(message, deps.now()));
  return post(secret, { headers: { 'content-type': 'application/json' }, body }, deps);
}

function logged(message: Message, log: Logger): null {
  if (message.type === 'digest.daily') {
    const { digest } = message;
    log.info(`${message.type}: ${digestLine(digest)}`, { date: digest.date, about: digestContext(digest) });
    return null;
  }
  const { type, alert } = message;
  const { message: text, ...fields } = alert;
  const level = type === 'alert.resolved' ? 'info' : LOG_LEVELS[alert.severity];
  log[level](`${type}: ${text}`, fields);
  return null;
}

interface Post {
  headers: Record<string, string>;
  body: string;
}

async function post(
  url: string,
  { headers, body }: Post,
  { timeoutMs = TIMEOUT_MS }: ChannelDeps,
): Promise<string | null> {
  const signal = deadlineSignal(timeoutMs);
  try {
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    await response.body?.cancel();
    return response.ok ? null : `answers ${response.status}`;
  } catch (error) {
    if (signal.aborted) return `does not answer within ${timeoutMs} ms`;
    const { cause } = error as { cause?: { code?: string } };
    // A message may name the address, which may be a secret: its code does not.
    return `cannot be reached: ${cause?.code ?? (error as Error).name}`;
  }
}
