import type { Client } from './client.ts';
import { answered } from './errors.ts';

interface RepoParams {
  owner: string;
  repo: string;
}

/** @returns the names of all labels of a repo. */
export async function readLabels(client: Client, repo: RepoParams): Promise<string[]> {
  const labels = await client.paginate(client.rest.issues.listLabelsForRepo, { ...repo, per_page: 100 });
  return labels.map(({ name }) => name);
}

/** Creates the labels that a repo does not have; the host does not distinguish case. @returns the created ones. */
export async function createLabels(
  client: Client,
  repo: RepoParams,
  descriptions: Readonly<Record<string, string>>,
): Promise<string[]> {
  const present = new Set((await readLabels(client, repo)).map((name) => name.toLowerCase()));
  const created: string[] = [];
  for (const [name, description] of Object.entries(descriptions)) {
    if (present.has(name.toLowerCase())) continue;
    try {
      await client.rest.issues.createLabel({ ...repo, name, description });
      created.push(name);
    } catch (error) {
      // Another client created it meanwhile.
      if (!answered(error, 422)) throw error;
    }
  }
  return created;
}
