import { z } from 'zod';
import { rawBody, route } from '../wire/route.ts';

const MIB = 1024 * 1024;

/** Headers of a delivery. The signature is checked first, so unauthenticated callers learn nothing about the others. */
export const WebhookHeaders = z.object({
  'x-hub-signature-256': z
    .string()
    .regex(/^sha256=[0-9a-f]{64}$/)
    .meta({
      description:
        '`sha256=` and the HMAC-SHA-256 of the raw body with the webhook secret, in hexadecimal. A wrong signature returns 401.',
      example: `sha256=${'0123456789abcdef'.repeat(4)}`,
    }),
  'x-github-delivery': z
    .string()
    .regex(/^[\w.:-]{1,100}$/)
    .meta({ description: 'Delivery id.', example: '72d3162e-cc78-11e3-81ab-4c9367dc0958' }),
  'x-github-event': z.string().min(1).meta({ description: 'Event name.', example: 'issues' }),
});

export const receiveGithubWebhook = route({
  id: 'receiveGithubWebhook',
  method: 'post',
  path: '/webhooks/github',
  summary: 'Receive a webhook delivery from GitHub',
  description:
    'Verifies the signature over the raw bytes, stores the delivery and processes it asynchronously. Bodies are limited to 25 MiB. A Content-Encoding returns 415. A delivery without a signature is rejected before its body is read. A delivery id is processed once.',
  tags: ['Webhooks'],
  auth: 'signature',
  headers: WebhookHeaders,
  bodyLimit: 25 * MIB,
  body: rawBody('application/json', 'The delivery as sent by the host.'),
  replies: {
    200: {
      description:
        '`accepted` = will be processed; `duplicate` = already received; `ignored` = the event type is not used.',
      body: z.object({
        ok: z.literal(true),
        delivery: z.enum(['accepted', 'duplicate', 'ignored']),
      }),
    },
  },
  errors: [
    'INVALID_SIGNATURE',
    'INVALID_JSON',
    { code: 'INVALID_INPUT', description: 'Headers X-GitHub-Delivery and X-GitHub-Event are required' },
    { code: 'INVALID_BODY', description: 'The event lacks a required field' },
  ],
});

export const webhookRoutes = [receiveGithubWebhook] as const;
