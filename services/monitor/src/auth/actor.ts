import type { Actor } from '@pipeline/engine';
import type { Operator } from './authentication.ts';

/** The authenticated operator, as the history of an issue names them. */
export const actorOf = ({ username }: Operator, reason?: string): Actor => ({
  type: 'operator',
  id: username,
  agent: null,
  reason: reason ?? null,
});
