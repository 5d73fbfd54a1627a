import { Switch } from 'react-aria-components/Switch';
import styles from './switch-field.module.css';

interface SwitchFieldProps {
  label: string;
  isSelected: boolean;
  isDisabled?: boolean;
  'aria-label'?: string;
  onChange: (isSelected: boolean) => void;
}

/** A setting that is on or off. */
export function SwitchField({ label, ...props }: SwitchFieldProps) {
  return (
    <Switch {...props} className={styles.field}>
      <span className={styles.track} />
      {label}
    </Switch>
  );
}
