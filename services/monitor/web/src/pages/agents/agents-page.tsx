import { oneOf } from '@pipeline/web/address/fields.ts';
import { useAddress } from '@pipeline/web/address/use-address.ts';
import { Button } from '@pipeline/web/components/button.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/query.ts';
import { useRepo } from '../../navigation/use-repo.ts';
import { ScoreboardPanel } from './scoreboard-panel.tsx';

const FIELDS = { window: oneOf(['24h', '7d', '30d', '90d'], '30d'), tasks: oneOf(['all', 'compared'], 'all') };
const WINDOWS = [
  { id: '24h', label: '24 hours' },
  { id: '7d', label: '7 days' },
  { id: '30d', label: '30 days' },
  { id: '90d', label: '90 days' },
] as const;
const TASKS = [
  { id: 'all', label: 'All tasks' },
  { id: 'compared', label: 'Compared tasks' },
] as const;
// Costs the merges of the window, and changes with each merge only.
const POLL_MS = 300_000;

/** Page that compares the agents by cost and result. */
export default function AgentsPage() {
  const { repo } = useRepo();
  const { values, set, rejected } = useAddress(FIELDS);
  const query = useQuery(read('agentScoreboard', { query: { ...values, ...(repo ? { repo } : {}) } }, POLL_MS));
  return (
    <Page
      title="Agents"
      rejected={rejected}
      actions={
        <div className={layout.group}>
          <Choice
            label="Tasks"
            options={TASKS}
            value={values.tasks}
            onChoose={(tasks) => set({ tasks }, { push: true })}
          />
          <Choice
            label="Window"
            options={WINDOWS}
            value={values.window}
            onChoose={(window) => set({ window }, { push: true })}
          />
        </div>
      }
    >
      <ScoreboardPanel query={query} tasks={values.tasks} />
    </Page>
  );
}

interface ChoiceProps<Id extends string> {
  label: string;
  options: readonly { id: Id; label: string }[];
  value: Id;
  onChoose(id: Id): void;
}

/** Buttons of which one is pressed. */
function Choice<Id extends string>({ label, options, value, onChoose }: ChoiceProps<Id>) {
  return (
    <fieldset className={layout.group} aria-label={label}>
      {options.map((option) => (
        <Button
          key={option.id}
          kind={value === option.id ? 'primary' : 'plain'}
          aria-pressed={value === option.id}
          onPress={() => onChoose(option.id)}
        >
          {option.label}
        </Button>
      ))}
    </fieldset>
  );
}
