import type { IncomingMessage } from 'node:http';
import type { webhookRoutes } from '@pipeline/contract';
import { AppError, sanitizeJson } from '@pipeline/domain';
import { receiveDelivery } from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import { createSignatureCheck, parseWebhook } from '@pipeline/vcs';
import type { HostedContext } from '../context/context.ts';

/** Deliveries of the host: checked, read, kept; the intake takes them up from the store. */
export function webhookHandlers({ engine, webhookSecret }: HostedContext): HandlersOf<typeof webhookRoutes> {
  const isSigned = webhookSecret === undefined ? undefined : createSignatureCheck(webhookSecret);
  return {
    receiveGithubWebhook: async ({ body, request }) => {
      if (!(await isSigned?.(body, String(request.headers[SIGNATURE])))) throw mismatch();
      const { delivery, event } = namesOf(request);
      const events = parseWebhook(event, parseDelivery(request, body));
      if (events === 'ignored') return { status: 200, body: { ok: true, delivery: 'ignored' } };
      const isNew = await receiveDelivery(engine, delivery, event, events);
      return { status: 200, body: { ok: true, delivery: isNew ? 'accepted' : 'duplicate' } };
    },
  };
}

const SIGNATURE = 'x-hub-signature-256';

const mismatch = () =>
  new AppError('INVALID_SIGNATURE', 'The signature does not match the body. Check the webhook secret on both sides');

/**
 * Checks the head of a delivery, before its body is read: without a secret here or a signature there, no body can be right.
 * @throws AppError INVALID_SIGNATURE.
 */
export const signatureRequirement =
  (webhookSecret: string | undefined) =>
  ({ headers }: IncomingMessage): void => {
    const signature = headers[SIGNATURE];
    if (webhookSecret === undefined) {
      throw new AppError('INVALID_SIGNATURE', 'Deliveries cannot be verified because GITHUB_WEBHOOK_SECRET is not set');
    }
    if (signature === undefined) {
      throw new AppError('INVALID_SIGNATURE', 'Header X-Hub-Signature-256 is missing. Set a secret on the webhook');
    }
    if (!/^sha256=[0-9a-f]{64}$/i.test(String(signature))) throw mismatch();
  };

/** Looked at after the signature, so that strangers learn nothing about what is expected. */
function namesOf({ headers }: IncomingMessage): { delivery: string; event: string } {
  const delivery = headers['x-github-delivery'];
  const event = headers['x-github-event'];
  if (typeof delivery !== 'string' || !/^[\w.:-]{1,100}$/.test(delivery)) {
    throw new AppError('INVALID_INPUT', 'Header X-GitHub-Delivery must contain the delivery id');
  }
  if (typeof event !== 'string' || event === '') {
    throw new AppError('INVALID_INPUT', 'Header X-GitHub-Event must contain the event name');
  }
  return { delivery, event };
}

function parseDelivery({ headers }: IncomingMessage, body: Uint8Array): unknown {
  if (headers['content-type']?.startsWith('application/x-www-form-urlencoded')) {
    throw new AppError('INVALID_JSON', 'The webhook sends form data. Set its content type to application/json');
  }
  try {
    return sanitizeJson(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)));
  } catch (cause) {
    throw new AppError('INVALID_JSON', 'The delivery is not JSON', { cause });
  }
}
