import { CHECK_POLICIES, MAX_ROUNDS, MERGE_METHODS, MERGE_TRAINS } from '@pipeline/domain';
import type { Command } from 'commander';
import { group, leaf, type Run, type Session } from './command/command.ts';
import { comparison } from './command/comparison.ts';
import { UsageError } from './command/errors.ts';
import { table } from './command/table.ts';

interface RepoOption {
  org?: string;
}

interface EnableOptions extends RepoOption {
  withoutReviewGate?: boolean;
}

interface AddOptions extends EnableOptions {
  host?: string;
  branch?: string;
  poolSize?: string;
  setupCommand?: string;
  checks?: string;
  mergeMethod?: string;
  mergeTrain?: string;
  maxRounds?: string;
  compare?: string;
  disabled?: boolean;
}

const WITHOUT_GATE: [string, string] = [
  '--without-review-gate',
  'enable it although its branch does not require svc/review and agents alone merge',
];

/** Commands on the repos of the pipeline. Running services apply them without a restart. */
export function repoCommands(program: Command, run: Run): void {
  const repo = group(program, 'repo', 'repos that the pipeline works on; requires database access');
  addList(repo, run);
  addAdd(repo, run);
  const options: [string, string][] = [
    ['--org <id>', 'organisation id; required when several organisations have the repo'],
  ];
  leaf<EnableOptions>(repo, run, {
    usage: 'enable <repo>',
    description: 'enable a repo, owner/name; issues with the enqueue label are imported immediately',
    writes: true,
    options: [...options, WITHOUT_GATE],
    action: enable,
  });
  leaf<RepoOption>(repo, run, {
    usage: 'disable <repo>',
    description:
      'stop importing issues of a repo; a repo listed in the configuration is enabled again when the monitor starts',
    writes: true,
    options,
    async action({ use, admin }, [slug = ''], { org }) {
      const changed = await use.enableRepo(admin, slug, { org: org ?? null, enabled: false, gateOf: null });
      const rest = changed.underWay === 0 ? '' : `; ${changed.underWay} issues in progress continue`;
      const text = `${changed.repo} of ${changed.org} ${changed.changed ? 'is' : 'was already'} disabled${rest}`;
      return { data: { ...changed, checks: [] }, text };
    },
  });
  leaf<RepoOption>(repo, run, {
    usage: 'remove <repo>',
    description:
      'remove a repo without issues in progress; its history is kept, and adding it again continues it. A repo listed in the configuration is added again when the monitor starts',
    writes: true,
    options,
    async action({ use, admin }, [slug = ''], { org }) {
      const data = await use.removeRepo(admin, slug, { org: org ?? null });
      return { data, text: `${data.repo} of ${data.org} is removed` };
    },
  });
}

function addList(repo: Command, run: Run): void {
  leaf<RepoOption>(repo, run, {
    usage: 'list',
    description: 'list repos, including disabled ones',
    writes: false,
    options: [['--org <id>', 'limit to this organisation']],
    async action({ use, admin }, _args, { org }) {
      const data = await use.listRepos(admin, org ?? null);
      const rows = data.map(({ repo, org, enabled, host, branch, pushRestricted, poolSize, unavailable }) => {
        const pushes = pushRestricted === null ? 'unknown' : pushRestricted ? 'restricted' : 'OPEN';
        const state = enabled && unavailable !== null ? `true, ${unavailable}` : enabled;
        return [repo, org, state, host, branch, pushes, poolSize];
      });
      const head = ['REPO', 'ORG', 'ENABLED', 'HOST', 'BRANCH', 'PUSHES', 'POOL SIZE'];
      return { data, text: table(head, rows, 'no repos; pipeline repo add owner/name adds one') };
    },
  });
}

function addAdd(repo: Command, run: Run): void {
  leaf<AddOptions>(repo, run, {
    usage: 'add <repo>',
    description:
      'add a repo, owner/name, or change the settings of one that was added before; reads it from the host with the variables of the monitor: GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY, GITHUB_TOKEN, or SANDBOX_URL and SANDBOX_TOKEN',
    writes: true,
    options: [
      ['--org <id>', 'organisation id (default: default)'],
      ['--host <kind>', 'github or sandbox (default: the host whose credentials are set, github first)'],
      ['--branch <name>', 'target branch of pull requests (default: the default branch on the host)'],
      ['--pool-size <n>', 'maximum number of concurrent tasks, 1 to 1000, or none'],
      ['--setup-command <command>', 'command that workers run after a checkout'],
      ['--checks <policy>', 'checks that must be green before a merge: required, all, or none (default: required)'],
      ['--merge-method <method>', 'squash, merge or rebase (default: squash)'],
      [
        '--merge-train <mode>',
        'serial = merge pull requests one after another on updated branches, or off (default: off)',
      ],
      ['--max-rounds <n>', 'times that an issue is sent back before a person is asked, 1 to 100 (default: 3)'],
      [
        '--compare <weights>',
        'agents that are compared, like develop=claude:50,codex:50, task types separated by blanks; none = no comparison',
      ],
      ['--disabled', 'add it without importing issues; enable it later'],
      WITHOUT_GATE,
    ],
    async action(session, [slug = ''], options) {
      const { use, admin, hostOf } = session;
      const settings = {
        slug,
        org: options.org ?? null,
        host: oneOf('--host', ['github', 'sandbox'], options.host) ?? null,
        branch: options.branch ?? null,
        poolSize: poolSize(options.poolSize),
        setupCommand: options.setupCommand,
        checkPolicy: oneOf('--checks', CHECK_POLICIES, options.checks),
        mergeMethod: oneOf('--merge-method', MERGE_METHODS, options.mergeMethod),
        mergeTrain: oneOf('--merge-train', MERGE_TRAINS, options.mergeTrain),
        maxRounds: maxRounds(options.maxRounds),
        compare: comparison(options.compare),
        enabled: options.disabled !== true,
        withoutReviewGate: options.withoutReviewGate === true,
      };
      const repo = await use.addRepo(admin, settings, hostOf);
      const checks = repo.enabled ? await use.examineAddedRepo(admin, { slug: repo.repo, org: repo.org, hostOf }) : [];
      const what = repo.added ? 'is added' : 'was already listed; its settings are updated';
      const text = `${repo.repo} of ${repo.org} ${what}: ${repo.enabled ? 'enabled' : 'disabled'}, branch ${repo.branch}`;
      return { data: { ...repo, checks }, text: text + warningsOf(checks) };
    },
  });
}

async function enable({ use, admin, hostOf }: Session, [slug = '']: string[], options: EnableOptions) {
  const org = options.org ?? null;
  const gateOf = options.withoutReviewGate === true ? null : hostOf;
  const changed = await use.enableRepo(admin, slug, { org, enabled: true, gateOf });
  const checks = await use.examineAddedRepo(admin, { slug, org, hostOf });
  const text = `${changed.repo} of ${changed.org} ${changed.changed ? 'is' : 'was already'} enabled`;
  return { data: { ...changed, checks }, text: text + warningsOf(checks) };
}

const warningsOf = (checks: readonly { status: string; message: string }[]): string =>
  checks.map(({ status, message }) => (status === 'ok' ? '' : `\n${status}: ${message}`)).join('');

function oneOf<T extends string>(option: string, values: readonly T[], text: string | undefined): T | undefined {
  if (text === undefined) return undefined;
  const value = values.find((each) => each === text);
  if (value !== undefined) return value;
  throw new UsageError(`${option} must be one of ${values.join(', ')}, got "${text}"`);
}

function maxRounds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const rounds = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (rounds >= 1 && rounds <= MAX_ROUNDS) return rounds;
  throw new UsageError(`--max-rounds must be 1 to ${MAX_ROUNDS}, got "${text}"`);
}

function poolSize(text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === 'none') return null;
  const size = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (size >= 1 && size <= 1_000) return size;
  throw new UsageError(`--pool-size must be 1 to 1000, or none, got "${text}"`);
}
