import type { HostComment, RepoRef } from '@pipeline/domain';
import type { Client } from './client.ts';
import { toComment } from './convert.ts';
import { paramsOf } from './repo-address.ts';

/** Lists the comments of an issue or a pull request, 100 a request. */
export async function listComments(
  client: Client,
  repo: RepoRef,
  number: number,
  since?: string,
): Promise<HostComment[]> {
  const query = {
    ...paramsOf(repo),
    issue_number: number,
    per_page: 100,
    ...(since === undefined ? {} : { since }),
  };
  return (await client.paginate(client.rest.issues.listComments, query)).map(toComment);
}
