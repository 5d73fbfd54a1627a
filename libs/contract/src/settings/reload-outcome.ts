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
    status: z.enum(RELOAD_STATUSES).meta({ description: 'partial = some of it waits for a restart.' }),
    appliedKeys: z.array(z.string()).meta({ description: 'In force since then.' }),
    deferredKeys: z.array(z.string()).meta({ description: 'Changed, and read only at a start.' }),
    error: z.string().nullable().meta({ description: 'Why nothing was changed.' }),
    errorCode: z.enum(ERROR_CODES).nullable(),
    trigger: z
      .enum(RELOAD_TRIGGERS)
      .meta({ description: 'A call, SIGHUP, or settings that another process had written.' }),
    at: Timestamp,
  })
  .meta({ id: 'ConfigReloadOutcome', description: 'What a process made of the configuration.' });

const wire: (outcome: DomainOutcome) => z.input<typeof ConfigReloadOutcome> = (outcome) => outcome;
void wire;
