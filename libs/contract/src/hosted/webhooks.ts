import { z } from 'zod';
import { rawBody, route } from '../route.ts';

const MIB = 1024 * 1024;

export const receiveGithubWebhook = route({
  id: 'receiveGithubWebhook',
  method: 'post',
  path: '/webhooks/github',
  summary: 'Take a delivery of the version-control host',
  description:
    'The signature is checked over the bytes as they came, so a Content-Encoding is refused with 415. A delivery without a signature is refused before its body is read. A delivery id counts once.',
  tags: ['Webhooks'],
  auth: 'signature',
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
