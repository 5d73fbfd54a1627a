import { type RawBuilder, sql } from 'kysely';
import { costsOfRows, type Of } from './rollups/facts.ts';
import { firstWhole } from './rollups/sums.ts';

/** Column names of a cost source. */
const COLUMNS = sql`
  x.tenant_id, x.repo_id, x.agent, x.model, x.provider, x.usd, x.invocations, x.input_tokens, x.output_tokens,
  x.cache_read_tokens, x.cache_write_tokens, x.max_turns, x.no_progress`;

/** Start of the window; null = the first cost event. */
export type Start = RawBuilder<unknown> | null;

/**
 * Costs since then, as rows to be summed: days from the daily sums, the rest of the first day from the hourly ones, the
 * rest of the first hour from cost events, and pending deltas. `costs` with the same scope must precede it in the
 * statement, so that all parts belong to one snapshot.
 * @param rows how the rest of the first hour is read: with the calls, or the cost only.
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
