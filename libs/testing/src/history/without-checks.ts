import type { Tx } from '@pipeline/store';
import { sql } from 'kysely';

/** Until the end of the transaction nothing looks at foreign keys: they hold by the way the rows are made, or all go. */
export const withoutChecks = (tx: Tx) => sql`set local session_replication_role = replica`.execute(tx);
