import { SelectField } from '@pipeline/web/components/select-field.tsx';
import { useRepos } from '../api/use-repos.ts';
import { useRepo } from '../navigation/use-repo.ts';

/** Chooses the repo whose data the pages show. */
export function RepoSwitch() {
  const repos = useRepos();
  const { repo, setRepo } = useRepo();
  // The address may name a repo that is not enabled any more.
  const known = repo === undefined || repos.includes(repo) ? repos : [repo, ...repos];
  const choices = [{ value: '', label: 'All repositories' }, ...known.map((slug) => ({ value: slug, label: slug }))];
  return <SelectField label="Repository" hideLabel choices={choices} value={repo ?? ''} onChange={setRepo} />;
}
