import { Router } from 'express';
import { branchRef } from '../git/git.ts';
import { notFound } from '../http/failure.ts';
import { repoOf } from '../http/request.ts';
import { apiUrl, htmlUrl } from '../render/basics.ts';
import type { Sandbox } from '../state/model.ts';

/** Compares two branches or commits, `base...head`: the numbers of commits that each has and the other lacks. */
export function compareRoutes(sandbox: Sandbox): Router {
  const router = Router({ mergeParams: true });
  const { git } = sandbox;

  router.get('/compare/:basehead', async (req, res) => {
    const repo = repoOf(res);
    const dir = git.dir(repo);
    const ends = req.params.basehead.split('...');
    const [base, head] = await Promise.all(
      ends.map(async (end) => (await git.resolve(dir, branchRef(end))) ?? git.resolve(dir, end)),
    );
    if (ends.length !== 2 || !base || !head) throw notFound();
    const counts = await git.run(dir, ['rev-list', '--left-right', '--count', `${base}...${head}`]);
    const [behind = 0, ahead = 0] = counts.split('\t').map(Number);
    res.json({
      url: `${apiUrl(sandbox, repo)}/compare/${req.params.basehead}`,
      html_url: `${htmlUrl(sandbox, repo)}/compare/${req.params.basehead}`,
      status: behind > 0 ? (ahead > 0 ? 'diverged' : 'behind') : ahead > 0 ? 'ahead' : 'identical',
      ahead_by: ahead,
      behind_by: behind,
      total_commits: ahead,
    });
  });
  return router;
}
