import { oneOf, text } from '@pipeline/web/address/fields.ts';
import { useAddress } from '@pipeline/web/address/use-address.ts';
import { Button } from '@pipeline/web/components/button.tsx';
import { SelectField } from '@pipeline/web/components/select-field.tsx';
import { TextField } from '@pipeline/web/components/text-field.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { read } from '../../api/query.ts';
import { useRepo } from '../../navigation/use-repo.ts';
import { ChooseRepo } from '../choose-repo.tsx';
import { RetrievalPanels } from './retrieval-panels.tsx';

const AGENTS = ['analyzer', 'planner', 'developer', 'reviewer', 'retrospector'] as const;
const FIELDS = { agent: oneOf(AGENTS, 'developer'), issue: text(10), pr: text(10), budget: text(7) };

/** Page of the snippets that an agent would be given, with the reasons. */
export default function RetrievalPage() {
  const { repo } = useRepo();
  if (repo === undefined) {
    return (
      <Page title="Retrieval">
        <ChooseRepo what="what its agents would be given" />
      </Page>
    );
  }
  return <RetrievalOf repo={repo} />;
}

function RetrievalOf({ repo }: { repo: string }) {
  const { values, set, rejected } = useAddress(FIELDS);
  const { agent, issue, pr, budget } = values;
  const query = useQuery({
    ...read('retrieveIntelligence', {
      query: { repo, agent, ...(issue && { issue }), ...(pr && { pr }), ...(budget && { budget }) },
    }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page title="Retrieval" rejected={rejected}>
      <div className={layout.stack}>
        <RetrievalForm
          key={`${issue} ${pr} ${budget}`}
          values={values}
          onSubmit={(next) => set(next, { push: true })}
        />
        <RetrievalPanels query={query} budget={budget === '' ? null : Number(budget)} />
      </div>
    </Page>
  );
}

interface Asked {
  agent: (typeof AGENTS)[number];
  issue: string;
  pr: string;
  budget: string;
}

const isNumber = (value: string): boolean => /^\d*$/.test(value);

function RetrievalForm({ values, onSubmit }: { values: Asked; onSubmit: (values: Asked) => void }) {
  const [agent, setAgent] = useState(values.agent);
  const [issue, setIssue] = useState(values.issue);
  const [pr, setPr] = useState(values.pr);
  const [budget, setBudget] = useState(values.budget);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if ([issue, pr, budget].every(isNumber)) onSubmit({ agent, issue, pr, budget });
  };
  const choices = AGENTS.map((value) => ({ value, label: value }));
  return (
    <form className={layout.form} onSubmit={submit}>
      <SelectField label="Agent" choices={choices} value={agent} onChange={setAgent} />
      <TextField
        label="Issue"
        inputMode="numeric"
        maxLength={10}
        isInvalid={!isNumber(issue)}
        value={issue}
        onChange={setIssue}
      />
      <TextField
        label="Pull request"
        inputMode="numeric"
        maxLength={10}
        isInvalid={!isNumber(pr)}
        value={pr}
        onChange={setPr}
      />
      <TextField
        label="Token budget"
        placeholder="configured"
        inputMode="numeric"
        maxLength={7}
        isInvalid={!isNumber(budget)}
        value={budget}
        onChange={setBudget}
      />
      <Button kind="primary" type="submit">
        Retrieve
      </Button>
    </form>
  );
}
