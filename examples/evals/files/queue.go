package queue

import "sync"

type Queue struct {
	mu    sync.Mutex
	items []string
}

func (q *Queue) Add(item string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = append(q.items, item)
}

func (q *Queue) Take() (string, bool) {
	q.mu.Lock()
	if len(q.items) == 0 {
		return "", false
	}
	defer q.mu.Unlock()
	item := q.items[0]
	q.items = q.items[1:]
	return item, true
}
