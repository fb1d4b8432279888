/** Sends the query once nobody has typed for a moment. */
export function debounce(send: (query: string) => void, wait: number) {
    let timer: number | undefined;
    return (query: string) => {
        clearTimeout(timer);
        timer = setTimeout(() => send(query), wait);
    };
}
