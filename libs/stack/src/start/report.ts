import { urlOf } from '../children/context.ts';
import type { Ports } from '../data/ports.ts';
import type { StackState } from '../data/state.ts';

/** Output of `--json`; other programs rely on its fields. */
export interface StackReport {
  hosted: { url: string; loginUrl: string; workerToken: string; user: { email: string; password: string } };
  monitor: { url: string; username: string; password: string };
  /** `token` is that of a person who may open and label issues. */
  sandbox: { url: string; token: string };
  database: { url: string };
  repos: string[];
}

export function reportOf(state: StackState, ports: Ports, databaseUrl: string): StackReport {
  return {
    hosted: {
      url: urlOf(ports, 'hosted'),
      loginUrl: `${urlOf(ports, 'hosted')}/account/connections`,
      workerToken: state.workerToken,
      user: { ...state.user },
    },
    monitor: { url: urlOf(ports, 'monitor'), ...state.monitor },
    sandbox: { url: urlOf(ports, 'sandbox'), token: state.sandbox.person.token },
    database: { url: databaseUrl },
    repos: state.repos.map(({ slug }) => slug),
  };
}

export interface DemoFacts {
  workers: number;
  issues: number;
}

/** The same for people. @param demo null = no fleet was started. */
export function reportText(report: StackReport, dataDir: string, demo: DemoFacts | null): string {
  const { hosted, monitor, sandbox, database, repos } = report;
  const [repo = ''] = repos;
  const register = `'{"name": "by-hand", "taskTypes": ["analyze"]}'`;
  const issue = `'{"title": "Say hello", "labels": ["svc:enqueue"]}'`;
  const fleet = demo
    ? `  Demo         a simulation: ${demo.workers} workers with a scripted agent and scripted people take
               ${demo.issues} issues to done; their commits, reviews and merges are real
               ${sandbox.url}/${repo}/issues`
    : `  Demo         none: label an issue svc:enqueue at ${sandbox.url}/${repo}/issues`;
  return `
  Hosted API   ${hosted.url}
               worker token   ${hosted.workerToken}
               user           ${hosted.user.email}   ${hosted.user.password}
               login          ${hosted.loginUrl}
  Monitor      ${monitor.url}
               login          ${monitor.username}   ${monitor.password}
  Sandbox      ${sandbox.url}   (a version-control host; repos: ${repos.join(', ')})
  Database     ${database.url}
${fleet}
  Logs         ${dataDir}/logs

  Try:
    curl -s ${hosted.url}/api/openapi.json
    curl -s -u '${monitor.username}:${monitor.password}' ${monitor.url}/api/dead-letters
    curl -s ${sandbox.url}/repos/${repo}/issues -H 'Authorization: Bearer ${sandbox.token}' -H 'Content-Type: application/json' -d ${issue}
    curl -s ${hosted.url}/api/worker/register -H 'Authorization: Bearer ${hosted.workerToken}' -H 'Content-Type: application/json' -d ${register}

  An access token for the hosted API, with that user's login in a browser (from this folder, in another terminal):
    npm run -s connect -- ${hosted.url}

  Ctrl-C stops everything, twice at once; the next start goes on with the same data.
`;
}
