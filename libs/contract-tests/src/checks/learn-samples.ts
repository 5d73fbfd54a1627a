import type { Probe } from './probe.ts';
import type { Samples } from './samples.ts';

/** Issues that are searched for an artefact at most. */
const MOST_ISSUES = 20;

/** Reads from a hosted API what its requests name. */
export async function hostedSamples(probe: Probe): Promise<Samples> {
  const { repos = [] } = (await read(probe, '/api/cli/bootstrap')) as { repos?: { slug: string }[] };
  for (const { slug } of repos) {
    const { items = [] } = (await read(probe, `/api/cli/issues?repo=${encodeURIComponent(slug)}`)) as Items<{
      number?: number;
      issueNumber?: number;
    }>;
    const number = items[0]?.issueNumber ?? items[0]?.number;
    if (number !== undefined) return { ...repoParts(slug), issue: String(number) };
  }
  return repos[0] ? repoParts(repos[0].slug) : {};
}

/** Reads from a monitor what its requests name. */
export async function monitorSamples(probe: Probe): Promise<Samples> {
  const { items: issues = [] } = (await read(probe, '/api/issues?state=all&limit=100')) as Items<Issue>;
  const { items: repos = [] } = (await read(probe, '/api/repos')) as Items<{ repo: string; enabled: boolean }>;
  const [issue] = issues;
  const repo = issue?.repo ?? repos.find(({ enabled }) => enabled)?.repo;
  if (repo === undefined) return {};
  return {
    ...repoParts(repo),
    ...(issue && { issue: String(issue.issueNumber) }),
    ...(await runOf(probe, issues)),
    ...(await ofRepo(probe, repo)),
  };
}

interface Items<T> {
  items?: T[];
}
interface Issue {
  repo: string;
  issueNumber: number;
}

function repoParts(repo: string): Samples {
  const [owner = '', name = ''] = repo.split('/');
  return { repo, owner, name };
}

async function runOf(probe: Probe, issues: readonly Issue[]): Promise<Samples> {
  for (const { repo, issueNumber } of issues.slice(0, MOST_ISSUES)) {
    const { items = [] } = (await read(probe, `/api/issues/${repo}/${issueNumber}/artefacts`)) as Items<{
      runId: number;
    }>;
    if (items[0]) return { runId: String(items[0].runId) };
  }
  return {};
}

async function ofRepo(probe: Probe, repo: string): Promise<Samples> {
  const query = `repo=${encodeURIComponent(repo)}`;
  const { items: intelligence = [] } = (await read(probe, `/api/intelligence?${query}&limit=1`)) as Items<{
    id: string;
  }>;
  const { tracks = [] } = (await read(probe, `/api/tracks?${query}`)) as { tracks?: { name: string }[] };
  const { items: snapshots = [] } = (await read(probe, `/api/strategy/${repo}/snapshots`)) as Items<{
    version: number;
  }>;
  return {
    ...(intelligence[0] && { intelligence: intelligence[0].id }),
    ...(snapshots[0] && { snapshot: String(snapshots[0].version) }),
    ...(await trackOf(probe, repo, tracks)),
  };
}

async function trackOf(probe: Probe, repo: string, tracks: readonly { name: string }[]): Promise<Samples> {
  for (const { name } of tracks) {
    const path = `/api/tracks/${repo}/${encodeURIComponent(name)}/prompts`;
    const { versions = [] } = (await read(probe, path)) as { versions?: { version: number }[] };
    if (versions[0]) return { track: name, prompt: String(versions[0].version) };
  }
  return tracks[0] ? { track: tracks[0].name } : {};
}

/** A body that cannot be had gives nothing to name; the check of that endpoint reports why. */
async function read(probe: Probe, address: string): Promise<object> {
  const answer = await probe.tryGet(address);
  try {
    return answer?.status === 200 ? (JSON.parse(answer.body) as object) : {};
  } catch {
    return {};
  }
}
