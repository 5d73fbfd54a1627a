import { Button } from '@pipeline/web/components/button.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import styles from '@pipeline/web/page/layout.module.css';
import { useRepos } from '../api/use-repos.ts';
import { useRepo } from '../navigation/use-repo.ts';

const MOST_OFFERED = 12;

/** Shown by pages whose routes need a repo while all repos are chosen. */
export function ChooseRepo({ what }: { what: string }) {
  const { setRepo } = useRepo();
  const repos = useRepos();
  return (
    <EmptyNote title={`Choose a repository to see ${what}.`}>
      <div className={styles.row}>
        {repos.slice(0, MOST_OFFERED).map((slug) => (
          <Button key={slug} onPress={() => setRepo(slug)}>
            {slug}
          </Button>
        ))}
      </div>
      {repos.length > MOST_OFFERED && <p>The list at the top of the page has all {repos.length}.</p>}
      {repos.length === 0 && <p>No repository is enabled.</p>}
    </EmptyNote>
  );
}
