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
    fingerprint: z.string().meta({
      description: 'Identifies the condition. Repeated detections with the same fingerprint update one alert.',
    }),
    repo: z.string().nullable(),
    issueNumber: z.int().nullable(),
    workerId: z.string().nullable(),
    value: z.number().nullable().meta({ description: 'Measured value. The message states the unit.' }),
    threshold: z.number().nullable().meta({ description: 'Limit that the value exceeded.' }),
    firstSeenAt: Timestamp,
    lastSeenAt: Timestamp,
    count: z.int().positive().meta({ description: 'Number of detections since `firstSeenAt`.' }),
    resolved: z.boolean(),
    resolvedAt: Timestamp.nullable(),
  })
  .meta({ id: 'Alert', description: 'An open or resolved problem reported by a failure detector.' });
