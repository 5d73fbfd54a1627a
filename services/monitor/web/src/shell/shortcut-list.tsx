import { Dialog } from '@pipeline/web/components/dialog.tsx';
import { type Shortcut, shortcuts } from '@pipeline/web/navigation/shortcuts.ts';
import { useSignal } from '@pipeline/web/shared/use-signal.ts';
import { keyText } from './key-text.ts';
import styles from './shortcut-list.module.css';

const GROUPS: readonly Shortcut['group'][] = ['Everywhere', 'Pages', 'Lists', 'Issue'];

/** The shortcuts that work on the page. */
export default function ShortcutList({ onClose }: { onClose: () => void }) {
  const all = useSignal(shortcuts);
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <div className={styles.groups}>
        {GROUPS.map((group) => {
          const own = all.filter((entry) => entry.group === group);
          return own.length === 0 ? null : (
            <section key={group}>
              <h3 className={styles.heading}>{group}</h3>
              <dl className={styles.list}>
                {own.map(({ keys, description }) => (
                  <div key={keys} className={styles.entry}>
                    <dt>
                      {keys.split(' ').map((key) => (
                        <kbd key={key} className={styles.key}>
                          {keyText(key)}
                        </kbd>
                      ))}
                    </dt>
                    <dd>{description}</dd>
                  </div>
                ))}
              </dl>
            </section>
          );
        })}
      </div>
    </Dialog>
  );
}
