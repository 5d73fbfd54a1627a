import { type Html, html } from '@pipeline/domain';
import { diffRange } from '../pulls/files.ts';
import type { PullIssue, RepoRecord, Sandbox } from '../state/model.ts';

/** More lines than a person reads on one page. */
const MAX_LINES = 2_000;
const MAX_LINE = 500;

/** Renders what the branch of a pull request changed since it left the base, line by line. */
export async function diffOf(sandbox: Sandbox, repo: RepoRecord, issue: PullIssue): Promise<Html> {
  const { git } = sandbox;
  const range = await diffRange(sandbox, repo, issue);
  const text = await git.run(git.dir(repo), ['diff', '--no-renames', '--no-color', range]);
  if (text === '') return html`<p>No file has changed.</p>`;
  const lines = text.split('\n');
  const shown = lines.slice(0, MAX_LINES).map(
    (line) => html`<span class="${kindOf(line)}">${line.slice(0, MAX_LINE)}
</span>`,
  );
  const rest = lines.length > MAX_LINES ? html`<p>${lines.length - MAX_LINES} more lines are not shown.</p>` : html``;
  return html`<pre class="diff" tabindex="0" role="region" aria-label="Changes">${shown}</pre>${rest}`;
}

function kindOf(line: string): 'file' | 'hunk' | 'added' | 'removed' | 'same' {
  if (/^(?:diff |index |--- |\+\+\+ |new file|deleted file)/.test(line)) return 'file';
  if (line.startsWith('@@')) return 'hunk';
  if (line.startsWith('+')) return 'added';
  return line.startsWith('-') ? 'removed' : 'same';
}
