import {
  type ConfigReloadOutcome as DomainOutcome,
  ERROR_CODES,
  RELOAD_STATUSES,
  RELOAD_TRIGGERS,
} from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';

/** interface: ConfigReloadOutcome. */
export const ConfigReloadOutcome = z
  .object({
    status: z
      .enum(RELOAD_STATUSES)
      .meta({ description: '`partial` = some changed keys take effect only after a restart.' }),
    appliedKeys: z.array(z.string()).meta({ description: 'Changed keys that took effect.' }),
    deferredKeys: z.array(z.string()).meta({ description: 'Changed keys that take effect after the next restart.' }),
    error: z.string().nullable().meta({ description: 'Reason why the reload was rejected. Null on success.' }),
    errorCode: z.enum(ERROR_CODES).nullable(),
    trigger: z.enum(RELOAD_TRIGGERS).meta({
      description: 'What triggered the reload: an API request, SIGHUP, or settings written by another process.',
    }),
    at: Timestamp,
  })
  .meta({ id: 'ConfigReloadOutcome', description: 'Result of a configuration reload in one process.' });

const wire: (outcome: DomainOutcome) => z.input<typeof ConfigReloadOutcome> = (outcome) => outcome;
void wire;
