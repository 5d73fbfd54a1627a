import { createHmac } from 'node:crypto';
import type { Alert, AlertMessage, DailyDigest } from '@pipeline/domain';
import { digestContext, digestLine } from './digest-text.ts';

interface Envelope {
  /** The same for each attempt, so that a receiver recognises a repetition. */
  id: string;
  version: 1;
  createdAt: string;
  links: { dashboard: string | null; issue: string | null };
}

export interface AlertNotice extends Envelope {
  type: AlertMessage;
  alert: Alert;
}

interface DigestNotice extends Envelope {
  type: 'digest.daily';
  digest: DailyDigest;
}

/** Message that is sent to a channel (interface: Alert channels). */
export type Message = AlertNotice | DigestNotice;

/**
 * The head fields of a webhook. The signature covers the time and the raw body, so that neither can be changed and an
 * old message cannot be sent again as new.
 * @param timestamp Unix seconds.
 */
export function webhookHeaders(
  message: Message,
  body: string,
  { secret, timestamp }: { secret: string; timestamp: number },
) {
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  return {
    'content-type': 'application/json',
    'user-agent': 'pipeline-monitor',
    'x-svc-event': message.type,
    'x-svc-delivery': message.id,
    'x-svc-timestamp': String(timestamp),
    'x-svc-signature': `sha256=${signature}`,
  };
}

/** Slack takes these three as markup. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const SIGNS = { info: ':large_blue_circle:', warning: ':warning:', critical: ':red_circle:' } as const;

/** One line, and under it the context: of an alert repo, issue, age, detector; of a day what stands out. */
export function slackBody(message: Message, now: Date): object {
  const { dashboard } = message.links;
  const [text, parts] = message.type === 'digest.daily' ? slackDigest(message) : slackAlert(message, now);
  const context = [...parts, dashboard === null ? null : `<${dashboard}|dashboard>`].filter((part) => part !== null);
  return {
    text,
    blocks: [
      { type: 'section', text: { type: 'mrkdwn', text } },
      ...(context.length === 0 ? [] : [{ type: 'context', elements: [{ type: 'mrkdwn', text: context.join(' · ') }] }]),
    ],
  };
}

type SlackText = [line: string, context: (string | null)[]];

function slackAlert({ type, alert, links }: AlertNotice, now: Date): SlackText {
  const sign = type === 'alert.resolved' ? ':white_check_mark: resolved:' : SIGNS[alert.severity];
  const issue = alert.issueNumber === null ? null : `#${alert.issueNumber}`;
  const context = [
    alert.repo === null ? null : escaped(alert.repo),
    issue !== null && links.issue !== null ? `<${links.issue}|${issue}>` : issue,
    `since ${ageOf(now.getTime() - Date.parse(alert.firstSeenAt))}`,
    alert.detector,
  ];
  return [`${sign} ${escaped(alert.message)}`, context];
}

const slackDigest = ({ digest }: DigestNotice): SlackText => [
  `:bar_chart: ${digestLine(digest)}`,
  digestContext(digest).map(escaped),
];

function ageOf(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}
