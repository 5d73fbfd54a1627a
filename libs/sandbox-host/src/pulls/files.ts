import { apiUrl, htmlUrl } from '../render/basics.ts';
import type { PullIssue, RepoRecord, Sandbox } from '../state/model.ts';

const STATUS: Record<string, string> = { A: 'added', D: 'removed', M: 'modified', T: 'changed' };

/** The range of commits that a pull request brings: since its branch left the base. */
export async function diffRange({ git }: Sandbox, repo: RepoRecord, { pull }: PullIssue): Promise<string> {
  const base = pull.mergedAt ? pull.baseSha : ((await git.resolve(git.dir(repo), pull.baseRef)) ?? pull.baseSha);
  return `${base}...${pull.headSha}`;
}

/** GitHub's `diff-entry` of each file that the branch changed since it left the base. */
export async function changedFiles(sandbox: Sandbox, repo: RepoRecord, issue: PullIssue) {
  const { git } = sandbox;
  const { pull } = issue;
  const dir = git.dir(repo);
  const range = await diffRange(sandbox, repo, issue);
  // -z keeps every file name as it is; without it git quotes and escapes some.
  const [raw, numstat] = await Promise.all([
    git.run(dir, ['diff', '--raw', '-z', '--no-renames', '--no-abbrev', range]),
    git.run(dir, ['diff', '--numstat', '-z', '--no-renames', range]),
  ]);
  const counts = new Map(
    numstat
      .split('\0')
      .filter(Boolean)
      .map((line) => {
        const [added = '', deleted = '', ...name] = line.split('\t');
        return [name.join('\t'), { additions: Number(added) || 0, deletions: Number(deleted) || 0 }];
      }),
  );
  const fields = raw.split('\0').filter(Boolean);
  const files = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, , , sha = '', code = 'M'] = (fields[at] ?? '').split(' ');
    const filename = fields[at + 1] ?? '';
    const { additions, deletions } = counts.get(filename) ?? { additions: 0, deletions: 0 };
    const place = filename.split('/').map(encodeURIComponent).join('/');
    files.push({
      sha,
      filename,
      status: STATUS[code] ?? 'modified',
      additions,
      deletions,
      changes: additions + deletions,
      blob_url: `${htmlUrl(sandbox, repo)}/blob/${pull.headSha}/${place}`,
      raw_url: `${htmlUrl(sandbox, repo)}/raw/${pull.headSha}/${place}`,
      contents_url: `${apiUrl(sandbox, repo)}/contents/${place}?ref=${pull.headSha}`,
    });
  }
  return files;
}
