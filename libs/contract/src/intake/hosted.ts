import { z } from 'zod';
import { rawBody, route } from '../wire/route.ts';

const MIB = 1024 * 1024;

/** What the host sends beside the body. The signature is read before the others, so that strangers learn nothing. */
export const WebhookHeaders = z.object({
  'x-hub-signature-256': z
    .string()
    .regex(/^sha256=[0-9a-f]{64}$/)
    .meta({
      description: 'HMAC-SHA-256 of the raw body with the secret of the webhook, in hexadecimal. Refused with 401.',
      example: `sha256=${'0123456789abcdef'.repeat(4)}`,
    }),
  'x-github-delivery': z
    .string()
    .regex(/^[\w.:-]{1,100}$/)
    .meta({ description: 'Id of the delivery.', example: '72d3162e-cc78-11e3-81ab-4c9367dc0958' }),
  'x-github-event': z.string().min(1).meta({ description: 'Name of the event.', example: 'issues' }),
});

export const receiveGithubWebhook = route({
  id: 'receiveGithubWebhook',
  method: 'post',
  path: '/webhooks/github',
  summary: 'Take a delivery of the version-control host',
  description:
    'The signature is checked over the bytes as they came, so a Content-Encoding is refused with 415. A delivery without a signature is refused before its body is read. A delivery id counts once.',
  tags: ['Webhooks'],
  auth: 'signature',
  headers: WebhookHeaders,
  bodyLimit: 25 * MIB,
  body: rawBody('application/json', 'The delivery as the host sent it.'),
  replies: {
    200: {
      description: 'Taken, known already, or of a kind that means nothing here.',
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
    { code: 'INVALID_BODY', description: 'The event lacks a field that it must have' },
  ],
});

export const webhookRoutes = [receiveGithubWebhook] as const;
