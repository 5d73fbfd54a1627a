import { ALERT_DETECTORS, ALERT_SEVERITIES } from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';

/** interface: Alert. */
export const Alert = z
  .object({
    id: z.uuid(),
    severity: z.enum(ALERT_SEVERITIES),
    detector: z.enum(ALERT_DETECTORS),
    message: z.string(),
    fingerprint: z.string().meta({ description: 'What makes two alerts the same one.' }),
    repo: z.string().nullable(),
    issueNumber: z.int().nullable(),
    workerId: z.string().nullable(),
    value: z.number().nullable().meta({ description: 'What was measured; the message says in which unit.' }),
    threshold: z.number().nullable().meta({ description: 'The limit that it passed.' }),
    firstSeenAt: Timestamp,
    lastSeenAt: Timestamp,
    count: z.int().positive().meta({ description: 'How often it was seen since then.' }),
    resolved: z.boolean(),
    resolvedAt: Timestamp.nullable(),
  })
  .meta({ id: 'Alert', description: 'Something that is wrong, or was.' });
