import type { Step } from '@pipeline/engine/model';
import { AGENT_COMMANDS } from './agent-commands.ts';
import { OPERATOR_COMMANDS, PEOPLE_COMMANDS } from './people-commands.ts';
import type { Scene } from './scene.ts';

/** The status comment is written by us alone, so a person's call meets none of these. */
const ON_COMMENTS = { method: 'PATCH', path: '/comments' };
const TROUBLES: Record<string, object> = {
  down: { status: 503 },
  cutBefore: { drop: 'before' },
  cutAfter: { drop: 'after' },
  forbidden: { status: 403 },
  limited: { status: 429, headers: { 'retry-after': '1' } },
};

/** What the model's steps of hosts and executors are where the loops run by themselves. */
const HOST_COMMANDS = {
  deliver: (scene: Scene) => scene.host.sandbox.flushWebhooks(),
  async loseWebhooks(scene: Scene, count: number) {
    scene.host.lose(count);
  },
  async outbox(scene: Scene, { death }: { death: string }) {
    if (death.startsWith('before')) await scene.kill('monitor');
  },
  async trouble(scene: Scene, kinds: string[]) {
    for (const kind of kinds) {
      const trouble = TROUBLES[kind];
      if (trouble) scene.host.sandbox.failNext({ ...trouble, match: ON_COMMENTS });
    }
  },
};

/**
 * Steps that do nothing here. Polls and loops run by themselves; processes have their time from the machine, so it
 * cannot be stepped; and whether a merge meets a conflict is for a real repository to say.
 */
const LEFT_OUT = ['poll', 'time', 'speakLate', 'mergeWillMeet'];

type Command = (scene: Scene, data: never) => Promise<void>;
const COMMANDS = new Map<string, Command>(
  Object.entries({ ...AGENT_COMMANDS, ...OPERATOR_COMMANDS, ...PEOPLE_COMMANDS, ...HOST_COMMANDS }),
);

/** Does over HTTP what the model's step of that name does through the engine. @throws Error for a step it has not. */
export async function perform(scene: Scene, { name, data }: Step): Promise<void> {
  const command = COMMANDS.get(name);
  if (command) await command(scene, data as never);
  else if (!LEFT_OUT.includes(name)) throw new Error(`no command for the step ${name}`);
}
