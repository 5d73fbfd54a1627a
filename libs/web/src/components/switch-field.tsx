import styles from './switch-field.module.css';

interface SwitchFieldProps {
  label: string;
  isSelected: boolean;
  isDisabled?: boolean;
  'aria-label'?: string;
  onChange: (isSelected: boolean) => void;
}

/** A setting that is on or off. */
export function SwitchField({ label, isSelected, isDisabled, onChange, ...props }: SwitchFieldProps) {
  return (
    <label className={styles.field}>
      <input
        {...props}
        type="checkbox"
        role="switch"
        aria-checked={isSelected}
        className={styles.input}
        checked={isSelected}
        disabled={isDisabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span className={styles.track} />
      {label}
    </label>
  );
}
