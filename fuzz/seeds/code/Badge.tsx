cimport React, { useState } from "react";

type Props = { label: string; count?: number };

/** A label with a number. */
export const Badge: React.FC<Props> = ({ label, count = 0 }) => {
  const [open, setOpen] = useState(false);
  return (
    <button onClick={() => setOpen(!open)}>
      {label} {count > 0 && <span className="count">{count}</span>}
    </button>
  );
};

export default function Page() {
  return <Badge label="Inbox" count={3} />;
}
