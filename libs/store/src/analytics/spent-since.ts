import { type RawBuilder, sql } from 'kysely';
import { costsOfRows, type Of } from './rollups/facts.ts';
import { firstWhole } from './rollups/sums.ts';

/** Names of the columns of a spending. */
const COLUMNS = sql`
  x.tenant_id, x.repo_id, x.agent, x.model, x.provider, x.usd, x.invocations, x.input_tokens, x.output_tokens,
  x.cache_read_tokens, x.cache_write_tokens, x.max_turns, x.no_progress`;

/** When a window begins; null = with the first cent. */
export type Start = RawBuilder<unknown> | null;

/**
 * What was spent since then, as rows to be added up: days from their sums, the rest of the first day from those of its
 * hours, the rest of the first hour from the bookings, and what is not folded. `costs` of the same reach stands before
 * it, so that all of it is of one moment.
 * @param rows how the rest of the first hour is read: with the calls, or the money alone.
 */
export function spentSince(start: Start, of: Of, rows = costsOfRows): RawBuilder<unknown> {
  if (start === null) {
    return sql`
      select ${COLUMNS} from cost_sums x where x.grain = 'month' and ${of('x')}
      union all select ${COLUMNS} from costs x`;
  }
  const [hour, day] = [firstWhole('1 hour', start), firstWhole('1 day', start)];
  return sql`
    select ${COLUMNS} from cost_sums x where x.grain = 'day' and x.at >= ${day} and ${of('x')}
    union all
    select ${COLUMNS} from cost_sums x where x.grain = 'hour' and x.at >= ${hour} and x.at < ${day} and ${of('x')}
    union all
    select ${COLUMNS} from costs x where x.at >= ${hour}
    union all
    select ${COLUMNS} from (${rows({ from: start, to: hour }, of)}) x`;
}

/** USD and model calls by window, tenant, repo and agent: span, tenant_id, repo_id, agent, usd, invocations. */
export const spentBySpan = (starts: Readonly<Record<string, Start>>, of: Of, rows = costsOfRows): RawBuilder<unknown> =>
  sql.join(
    Object.entries(starts).map(
      ([span, start]) => sql`
        select ${sql.lit(span)}::text as span, tenant_id, repo_id, agent, sum(usd) as usd,
          sum(invocations)::bigint as invocations
        from (${spentSince(start, of, rows)}) p group by 2, 3, 4`,
    ),
    sql` union all `,
  );
